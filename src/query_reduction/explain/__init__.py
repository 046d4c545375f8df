"""How an answer came about: traces of gates and reduced queries, and pictures of them."""
