"""Data in, models out."""

from .model import Model, load, read_model, save

__all__ = ["Model", "load", "read_model", "save"]
