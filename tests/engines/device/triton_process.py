"""What tests of Triton's kernels run, each in a process of its own: an interpreted kernel cannot be compiled.

interpret SCORES NAME ...      check_engine on these cases, through the engine, by the interpreter; prints the launches
mutant OLD NEW          with one text of the kernels replaced, values and gradients against those of the local engine
compile ARCH TYPE       all kernels for an architecture, "fp64" or "fp32"; prints the size of each
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

from linrank import RankingData
from linrank.engines import LocalEngine, Torch
from linrank.engines.torch import pairs
from linrank.engines.torch.engine import TorchEngine
from linrank.losses import LOSSES, HuberHinge

TRIED = [LOSSES["hinge"], LOSSES["squared_hinge"], HuberHinge(0.5), LOSSES["logistic"]]


def interpret(scores, *names):
    from linrank.testing import engines

    place = Torch("torch:cpu", scores=scores)
    for name in names:
        engines._check_case(lambda data: TorchEngine(data, place), engines.CASES[name](), scores == "float32")
    print(pairs.launches["evaluate"], pairs.launches["multiply"])


def mutant(old, new):
    source = Path(pairs.__file__).with_name("triton_kernels.py").read_text()
    assert old in source, old
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant_kernels.py"
        path.write_text(source.replace(old, new))
        spec = importlib.util.spec_from_file_location("mutant_kernels", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["mutant_kernels"] = module
        spec.loader.exec_module(module)
        pairs.kernels = lambda: module
        rng = np.random.default_rng(0)
        y, qid = rng.integers(0, 3, 90).astype(float), np.repeat([0, 1, 2], [40, 33, 17])
        data = RankingData(rng.integers(-2, 3, (90, 2)).astype(float), y, qid)  # many pairs are at the margin
        w = np.array([1.0, 0.5])
        for loss in TRIED:
            answers = []
            for engine in (LocalEngine(data), TorchEngine(data, "torch:cpu")):
                with engine:
                    point = engine.evaluate(loss, engine.scores(w))
                    product = point.hessian_product(np.ones(2)) if loss.smooth else w
                    answers.append(np.r_[point.sums.value, point.gradient(), product])
            np.testing.assert_allclose(answers[1], answers[0], rtol=1e-11, atol=1e-9, err_msg=loss.name)
    print("as the local engine")


def compile_(arch, kind):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from linrank.engines.torch import triton_kernels

    number, whole = f"*{kind}", "*i64"
    shared = {"s": number, "level": whole, "v": number, "tile_first": whole, "tile_begin": whole, "tile_end": whole}
    outs = {"evaluate": ("pull", "value", "hinge", "slope"), "multiply": ("x", "out")}
    for name, arrays in outs.items():
        for loss in range(4) if name == "evaluate" else range(1, 4):
            signature = shared | {"margins": number} | {array: number for array in arrays}
            signature |= {"KIND": "constexpr", "BLOCK": "constexpr"}
            source = ASTSource(
                fn=getattr(triton_kernels, name), signature=signature, constexprs={"KIND": loss, "BLOCK": pairs.BLOCK}
            )
            options = {"num_warps": 4, "enable_fp_fusion": False}
            compiled = triton.compile(source, target=GPUTarget("cuda", int(arch), 32), options=options)
            assert f"sm_{arch}" in compiled.asm["ptx"]
            assert ".f64" in compiled.asm["ptx"] or kind == "fp32"
            assert "atom." not in compiled.asm["ptx"]
            print(name, loss, len(compiled.asm["cubin"]))


torch.set_num_threads(1)
{"interpret": interpret, "mutant": mutant, "compile": compile_}[sys.argv[1]](*sys.argv[2:])
