"""Print the lowest version of every dependency that pyproject.toml declares, as pip's constraints."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
declared = [*project["dependencies"], *project["optional-dependencies"]["test"]]
declared += [need for extra in ("parquet", "zstd", "onnx") for need in project["optional-dependencies"][extra]]
for need in declared:
    found = re.fullmatch(r"([\w.-]+)>=([\d.]+)", need)
    if found:
        name, version = found.groups()
        print(f"{name}=={version if '.' in version else version + '.0'}.*")
