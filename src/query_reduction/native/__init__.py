"""The C++ library: loading it, its threads, and the fused reader of the Query-Reduction Network."""
