"""Questions that several lessons ask a model: what it computes inside, and what it depends on.

recording             attention weights, inputs and words of a forward pass
attention_maps        layers of weights with their tokens, for the attention viewer
found_heads           heads of a translator that do something, found by what they do
head_roles            how much of a head's attention falls on chosen cells
ablation              switch heads off
shape_trace           every tensor of one forward pass, with its axes
"""
