"""A web API and a page for trained models: ``qrn serve``. Needs the extra ``serve``."""
