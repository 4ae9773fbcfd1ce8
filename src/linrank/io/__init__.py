"""Data in, models out."""

from ..data.dataset import Comments, Dataset
from ._beside import has_side_files
from ._columns import GUESSES
from ._csv import write_csv
from .frames import from_frame
from .model import Model, load, read_model, save
from .read import format_of, read
from .svmlight import count_features, iter_svmlight, read_svmlight
from .write import write_parquet, write_svmlight

__all__ = [
    "GUESSES",
    "Comments",
    "Dataset",
    "Model",
    "count_features",
    "format_of",
    "from_frame",
    "has_side_files",
    "iter_svmlight",
    "load",
    "read",
    "read_model",
    "read_svmlight",
    "save",
    "write_csv",
    "write_parquet",
    "write_svmlight",
]
