"""A small translator, trained and in the package: English to German, on captions of pictures.

``model.safetensors``, ``tokenizer.json``, ``history.json`` and the card ``README.md`` were written
by ``python -m transformer_edu.runs.export``; ``loading`` reads them. ``marian`` reads and
writes folders of published Marian models; ``small_marian`` trains a small one.
"""
