"""The Transformer of "Attention Is All You Need", taught in notebooks, with this package behind it.

The map, one folder for each question:

- ``model``: what is it? The paper's §3, in plain PyTorch.
- ``variants``: what came after it? Language models, published translation models.
- ``generation``: how does it write? Greedy, beam search, sampling (§6.1).
- ``training``: how does it learn? Tasks, loss, schedule, loop (§5).
- ``pretrained``: a small translator, ready to use.
- ``refusals``: the few sentences that refuse bad input at the doors.
- ``teaching``: how is it shown? Figures, explorers and exercise checks for the notebooks.

Every name has one import path: ``from transformer_edu.model.attention import MultiHeadAttention``.
"""

__version__ = "0.1.0"
