"""What is given: rows, levels, queries, weights and preferences; checked once, then values."""
