"""Newton's method: `method` is the method, `directions` where it goes, `smoothing` how it takes the hinge."""

from .method import Newton

__all__ = ["Newton"]
