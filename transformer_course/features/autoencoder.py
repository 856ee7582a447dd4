"""A sparse autoencoder with top-k features, and its training.

Used in notebooks/22_features.ipynb; the numbers of experiments/features.py are its, too.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

NUM_FEATURES, ACTIVE = 512, 8
STEPS, BATCH_SIZE, LEARNING_RATE = 400, 512, 2e-3


class SparseAutoencoder(nn.Module):
    """Writes a vector as a bias plus a few of many directions (Gao et al., 2024).

    Args:
        d_model: Width of the vectors.
        num_features: How many directions there are.
        active: How many of them a vector may use.
    """

    def __init__(self, d_model: int, num_features: int, active: int) -> None:
        super().__init__()
        self.active = active
        self.encoder = nn.Linear(d_model, num_features)
        self.decoder = nn.Linear(num_features, d_model)

    def encode(self, x: Tensor) -> Tensor:
        """The features of some vectors: all but the largest are 0.

        Args:
            x: Shape (..., d_model).

        Returns:
            Shape (..., num_features), none below 0.
        """
        features = F.relu(self.encoder(x - self.decoder.bias))
        largest = features.topk(self.active, dim=-1)
        return torch.zeros_like(features).scatter(-1, largest.indices, largest.values)

    def forward(self, x: Tensor) -> Tensor:
        """The vectors as far as their features tell them, of the same shape."""
        return self.decoder(self.encode(x))


def train_autoencoder(
    vectors: Tensor,
    *,
    seed: int,
    kind: type[nn.Module] = SparseAutoencoder,
    steps: int = STEPS,
    progress: bool = False,
) -> nn.Module:
    """Train an autoencoder to repeat these vectors; every direction has length 1.

    Args:
        vectors: Shape (token, d_model); it learns on their device.
        seed: Decides the first directions and the batches.
        kind: The class, called with d_model, NUM_FEATURES and ACTIVE: ours or a reader's.
        steps: How many batches it sees; the learning rate falls to 0 in the last third.
        progress: Whether to show a bar.

    Returns:
        What has been learned when all steps are done, or when the reader interrupts.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(vectors.size(-1), NUM_FEATURES, ACTIVE)
    generator = torch.Generator().manual_seed(seed)
    model.to(vectors.device)
    with torch.no_grad():
        directions = model.decoder.weight
        directions.div_(directions.norm(dim=0))  # (d_model, num_features)
        model.encoder.weight.copy_(directions.T)
        model.encoder.bias.zero_()
        model.decoder.bias.copy_(vectors.mean(dim=0))
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    try:
        for step in tqdm(range(steps), leave=False) if progress else range(steps):
            optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(1, 3 * (1 - step / steps))
            rows = torch.randint(len(vectors), (BATCH_SIZE,), generator=generator)
            batch = vectors[rows.to(vectors.device)]
            loss = (model(batch) - batch).square().sum(dim=-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                directions.div_(directions.norm(dim=0))
    except KeyboardInterrupt:
        print(f"The training was interrupted after {step} of {steps} steps.")
    return model
