"""Compiled kernels: plain functions of arrays and scalars, serial over a contiguous range.

They allocate nothing, raise nothing and print nothing; each has a naive twin in ``linrank.testing``.
"""
