"""The words of a sentence become a vector: parts that a network chooses by name.

``position``  the paper's: a bag of words, each weighted by its position (``encoders.position``)
``order``     each word with its neighbours, so that it matters who is left of whom (``encoders.order``)

An encoder declares its weights on the network that uses it, as heads do, and encodes stories and questions alike: each
distinct text is one row. ``encoders.arrays`` computes the same without PyTorch, for models in use.
"""
