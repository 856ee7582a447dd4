"""A small translator, trained and in the package: English to German, on captions of pictures.

``model.safetensors``, ``tokenizer.json``, ``history.json`` and the card ``README.md`` were written
by ``python -m transformer_edu.training.export``; ``loading`` reads them.
"""
