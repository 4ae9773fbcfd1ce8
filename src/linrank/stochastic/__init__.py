"""Stochastic pairwise descent: draws pairs instead of summing over them."""
