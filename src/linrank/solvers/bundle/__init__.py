"""The bundle method: `method` is the method, `planes` its model of the risk, `simplex` its quadratic programme."""

from .method import Bundle
from .planes import Planes

__all__ = ["Bundle", "Planes"]
