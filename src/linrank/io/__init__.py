"""Data in, models out."""

from .dataset import Comments, Dataset
from .model import Model, load, read_model, save
from .svmlight import count_features, iter_svmlight, read_svmlight
from .write import write_svmlight

__all__ = [
    "Comments",
    "Dataset",
    "Model",
    "count_features",
    "iter_svmlight",
    "load",
    "read_model",
    "read_svmlight",
    "save",
    "write_svmlight",
]
