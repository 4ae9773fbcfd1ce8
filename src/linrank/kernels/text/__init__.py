"""Kernels of the text readers."""
