#!/bin/sh
# A large file of SVMlight text, large.txt, and test.txt: all cores, single precision.
set -e
linrank train large.txt -o model.json --jobs -1 --float32 --valid test.txt
linrank evaluate model.json test.txt --metric ndcg@10 --jobs -1
linrank export model.json --to solr --output solr.json --verify test.txt
