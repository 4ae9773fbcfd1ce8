"""`linrank compile`."""

from __future__ import annotations

from ._help import command
from ._options import quiet_option


@command(short_help="Compile all kernels now, not when they are first needed.")
@quiet_option
def compile() -> None:
    """Compile all kernels now, not when they are first needed.

    They are kept on disk for every later process of this installation: run it once after installing, or when an image
    is built. What has been compiled before is not compiled again. NUMBA_CACHE_DIR names another folder to keep them in.

    \b
      linrank compile
      NUMBA_CACHE_DIR=/var/cache/linrank linrank compile --quiet
    """
    from .._bars import Bar
    from ..kernels._compiling import compiled, folder
    from ._terminal import echo
    from ._warm import tasks, warmed

    todo = list(tasks())
    compiled.is_shown = False
    with Bar("compiling all kernels", len(todo), "tasks", after=0.0) as bar:
        for name in warmed(todo):
            bar.note = name
            bar.advance()
    kept = folder()
    where = f"in {kept}" if kept else "nowhere, as no folder can be written: set NUMBA_CACHE_DIR"
    echo(f"{len(compiled.names)} kernels compiled, kept {where}")
