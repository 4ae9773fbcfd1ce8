#!/bin/sh
# A table of searches: searches.csv and later.csv with the columns search_id, bought, title (text) and numbers.
set -e
linrank train searches.csv -o model.json --query search_id --label bought --drop title --missing mean --valid later.csv
linrank evaluate model.json later.csv --query search_id --label bought --drop title --metric ndcg@5,mrr
linrank inspect model.json --top 5
linrank export model.json --to sql --table products --output score.sql
