"""How a model arrived at an answer: traces of gates and reduced queries, and pictures of them."""
