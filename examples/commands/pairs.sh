#!/bin/sh
# Preferences over embeddings: items.parquet with the columns item (an id) and embedding (a list of numbers), and
# judged.csv, held_out.csv with a winner and a loser in each line.
set -e
linrank train items.parquet -o model.json --id item --pairs judged.csv --loss logistic
linrank evaluate model.json items.parquet --id item --pairs held_out.csv --metric pairwise_accuracy,log_loss
linrank export model.json --to python --output score.py
