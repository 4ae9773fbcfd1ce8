#!/bin/sh
# LETOR text: train.txt, vali.txt and test.txt, one document a line (grade qid:query 1:value 2:value ... # docid = id).
set -e
linrank tune train.txt --valid vali.txt -o model.json --metric ndcg@10
linrank evaluate model.json test.txt --metric ndcg@1,3,5,10,map --preset letor
linrank predict model.json test.txt --rank --output run.txt
linrank export model.json --to ranklib --output ranklib.txt --verify test.txt
