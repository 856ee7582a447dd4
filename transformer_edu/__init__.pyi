# The doors of the library: every name that users and lessons import, and the module that holds it.

# model
# data
from .data.augmentation import RandomSplits as RandomSplits
from .data.batches import Batch as Batch
from .data.batches import epoch as epoch
from .data.batches import make_batch as make_batch
from .data.batches import plan_batches as plan_batches
from .data.batches import plan_token_batches as plan_token_batches
from .data.everyday import everyday_pairs as everyday_pairs
from .data.everyday import held_out as held_out
from .data.multi30k import load_multi30k as load_multi30k
from .data.number_words import LARGEST_NUMBER as LARGEST_NUMBER
from .data.number_words import english_words as english_words
from .data.number_words import german_words as german_words
from .data.parallel_text import ParallelText as ParallelText
from .data.parallel_text import translation_task as translation_task
from .data.tokenizer import Tokenizer as Tokenizer
from .data.tokenizer import load_tokenizer as load_tokenizer
from .data.tokenizer import readable as readable
from .data.tokenizer import train_tokenizer as train_tokenizer
from .data.toy_tasks import Task as Task
from .data.toy_tasks import copy_task as copy_task
from .data.toy_tasks import number_words_task as number_words_task
from .data.toy_tasks import reverse_task as reverse_task
from .data.vocabulary import Vocabulary as Vocabulary

# generation
from .generation.beam import beam_search as beam_search
from .generation.greedy import greedy_search as greedy_search
from .generation.sampling import candidate_probabilities as candidate_probabilities
from .generation.sampling import sample as sample
from .generation.translator import Translator as Translator
from .generation.translator import write_all as write_all
from .model.add_and_norm import AddAndNorm as AddAndNorm
from .model.attention import MultiHeadAttention as MultiHeadAttention
from .model.attention import attention_weights as attention_weights
from .model.attention import scaled_dot_product_attention as scaled_dot_product_attention
from .model.cache import DecoderCache as DecoderCache
from .model.cache import KeyValueCache as KeyValueCache
from .model.decoder import Decoder as Decoder
from .model.decoder import DecoderLayer as DecoderLayer
from .model.embeddings import PositionalEncoding as PositionalEncoding
from .model.embeddings import TokenEmbedding as TokenEmbedding
from .model.embeddings import sinusoidal_positions as sinusoidal_positions
from .model.encoder import Encoder as Encoder
from .model.encoder import EncoderLayer as EncoderLayer
from .model.feed_forward import FeedForward as FeedForward
from .model.masks import causal_mask as causal_mask
from .model.masks import padding_mask as padding_mask
from .model.masks import target_mask as target_mask
from .model.pytorch import PytorchTransformer as PytorchTransformer
from .model.pytorch import from_pytorch as from_pytorch
from .model.pytorch import to_pytorch as to_pytorch
from .model.transformer import Transformer as Transformer
from .model.transformer import TransformerConfig as TransformerConfig
from .model.vocabulary import END_ID as END_ID
from .model.vocabulary import PADDING_ID as PADDING_ID
from .model.vocabulary import SPECIAL_TOKENS as SPECIAL_TOKENS
from .model.vocabulary import START_ID as START_ID
from .model.vocabulary import UNKNOWN_ID as UNKNOWN_ID

# pretrained
from .pretrained.loading import load_pretrained as load_pretrained
from .pretrained.loading import model_card as model_card
from .pretrained.loading import training_history as training_history
from .pretrained.marian import MARIAN_FILES as MARIAN_FILES
from .pretrained.marian import load_marian as load_marian
from .pretrained.marian import save_marian as save_marian

# training
from .training.bleu import corpus_bleu as corpus_bleu
from .training.checkpoint import load_model as load_model
from .training.checkpoint import save_model as save_model
from .training.config import TrainingConfig as TrainingConfig
from .training.config import inverse_square_root as inverse_square_root
from .training.evaluation import evaluate as evaluate
from .training.evaluation import exact_matches as exact_matches
from .training.loop import fit as fit
from .training.loop import paper_adam as paper_adam
from .training.loss import batch_loss as batch_loss
from .training.loss import token_loss as token_loss
from .training.machine.device import describe_device as describe_device
from .training.machine.device import pick_device as pick_device
from .training.saved_translator import load_translator as load_translator

# variants
from .variants.language_model import LanguageModel as LanguageModel
from .variants.language_model import LanguageModelConfig as LanguageModelConfig
from .variants.marian import MARIAN_NAMES as MARIAN_NAMES
