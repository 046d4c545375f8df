"""Trained models for use elsewhere: a page that answers by itself, ONNX, and a folder for the Hugging Face Hub."""
