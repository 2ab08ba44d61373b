"""Scoring of any number of captions from shards, in bounded memory, by any engine.

Four steps, each a function that an engine applies to pieces of the work:

1. `partitions`: every shard is cut by a hash of the item id, so that candidates and references of
   an item meet in one partition;
2. `reference_counts`: what metrics must know of all references is counted, such as document
   frequencies;
3. `parts`: each partition is paired and measured, and its item scores are written as one part;
4. `totals`: the statistics of all items are summed in the order of the references, by the tree
   that scoring in memory uses, so that scores do not depend on how the work was cut.
"""
