"""Networks of sequences, in torch: translation, speech, tags, text and sound."""
# SPDX-License-Identifier: Apache-2.0
import math
from typing import Final, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from exported_shared import Network, normal, whole


# --- translation: LSTMs with attention, and greedy decoding in a loop

class GreedyDecoder(nn.Module):
    """Two LSTM cells with Luong's attention; what was attended to is an input of the next step. It ends at
    `limit`, or once every sentence has its end."""
    END: Final[int] = 1

    def __init__(self, vocabulary, embedded, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, embedded)
        self.first = nn.LSTMCell(embedded + width, width)
        self.second = nn.LSTMCell(width, width)
        self.score = nn.Linear(width, width, bias=False)
        self.mix = nn.Linear(2 * width, width)
        self.words = nn.Linear(width, vocabulary)
        self.width = width

    def forward(self, memory: Tensor, hidden: Tensor, limit: Tensor) -> Tuple[Tensor, Tensor]:
        batch = memory.size(0)
        keys = self.score(memory).transpose(1, 2)
        none = torch.zeros(batch, self.width)
        h1, c1, h2, c2, attended = none, none, none, none, none
        token = torch.zeros(batch, dtype=torch.long)
        tokens = torch.zeros(batch, 0, dtype=torch.long)
        scores = torch.zeros(batch, 0)
        ended = torch.zeros(batch, dtype=torch.bool)
        step = 0
        while step < int(limit) and not bool(ended.all()):
            h1, c1 = self.first(torch.cat([self.embed(token), attended], 1), (h1, c1))
            h2, c2 = self.second(h1, (h2, c2))
            weights = torch.bmm(h2.unsqueeze(1), keys).squeeze(1).add(hidden).softmax(1)
            context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
            attended = torch.tanh(self.mix(torch.cat([context, h2], 1)))
            best, token = self.words(attended).log_softmax(1).max(1)
            tokens = torch.cat([tokens, token.unsqueeze(1)], 1)
            scores = torch.cat([scores, best.unsqueeze(1)], 1)
            ended = ended | (token == self.END)
            step += 1
        return tokens, scores


class Translator(nn.Module):
    def __init__(self, vocabulary=10000, embedded=256, width=512):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, embedded)
        self.states = 4, width // 2
        self.encoder = nn.LSTM(embedded, width // 2, num_layers=2, bidirectional=True, batch_first=True)
        self.decoder = torch.jit.script(GreedyDecoder(vocabulary, embedded, width))

    def forward(self, source, lengths, limit):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(source), lengths, batch_first=True)
        none = torch.zeros(self.states[0], source.shape[0], self.states[1])  # or a trace has its batch
        memory, _ = nn.utils.rnn.pad_packed_sequence(self.encoder(packed, (none, none))[0], batch_first=True)
        hidden = (torch.arange(source.shape[1]).unsqueeze(0) >= lengths.unsqueeze(1)).float() * -1e9
        return self.decoder(memory, hidden, limit)


def lengths_of(batch, longest):
    """Falling, as packed sequences have them."""
    return torch.tensor([max(1, longest - 2 * row) for row in range(batch)])


def translator(random):
    def inputs(batch, longest, limit):
        return {"source": whole(random, 10000, batch, longest), "lengths": lengths_of(batch, longest),
                "limit": torch.tensor(limit)}
    made = Network.filled(random, Translator(), inputs, [(2, 7, 5), (1, 12, 9), (4, 9, 16)],
                          {"source": ("batch", "longest"), "lengths": ("batch",), "tokens": ("batch", "steps"),
                           "scores": ("batch", "steps")}, ("tokens", "scores"))
    made.module.decoder.words.weight.mul_(5)  # what LSTMs give is small, and words have to differ
    return made


# --- speech: a transducer

class Transducer(nn.Module):
    """MLPerf's shape of RNN-T: LSTMs, of which the third reads two frames at a time, of sound; one of labels; and a
    joint network of each frame with each label."""

    def __init__(self, bands=240, width=640, labels=1000, joint=512):
        super().__init__()
        self.before = nn.LSTM(bands, width, num_layers=2)
        self.behind = nn.LSTM(2 * width, width, num_layers=2)
        self.embed = nn.Embedding(labels, 320)
        self.prediction = nn.LSTM(320, 320, num_layers=2)
        self.of_sound, self.of_labels = nn.Linear(width, joint), nn.Linear(320, joint)
        self.join = nn.Linear(joint, labels)

    def encode(self, sound):
        frames, _ = self.before(sound)
        length, batch, width = frames.shape
        pairs = frames.reshape(length // 2, 2, batch, width).transpose(1, 2).reshape(length // 2, batch, 2 * width)
        return self.of_sound(self.behind(pairs)[0])

    def forward(self, sound, labels):
        encoded = self.encode(sound)
        predicted = self.of_labels(self.prediction(self.embed(labels))[0])
        both = encoded.permute(1, 0, 2).unsqueeze(2) + predicted.permute(1, 0, 2).unsqueeze(1)
        return self.join(both.relu()).log_softmax(-1)


def transducer(random):
    def inputs(batch, frames, labels):
        return {"sound": normal(random, frames, batch, 240), "labels": whole(random, 1000, labels, batch)}
    return Network.filled(random, Transducer(), inputs, [(2, 8, 5), (1, 24, 3), (3, 14, 8)],
                          {"sound": ("frames", "batch"), "labels": ("count", "batch")}, ("scores",))


class GreedySearch(nn.Module):
    """For each frame as many labels as come before a blank, three at most; one sound."""
    BLANK: Final[int] = 0
    MOST: Final[int] = 3

    def __init__(self, labels, joint):
        super().__init__()
        self.embed = nn.Embedding(labels, 320)
        self.first, self.second = nn.LSTMCell(320, 320), nn.LSTMCell(320, 320)
        self.of_labels = nn.Linear(320, joint)
        self.join = nn.Linear(joint, labels)

    def forward(self, encoded: Tensor) -> Tuple[Tensor, Tensor]:
        none = torch.zeros(1, 320)
        h1, c1 = self.first(self.embed(torch.zeros(1, dtype=torch.long)), (none, none))
        h2, c2 = self.second(h1, (none, none))
        found = torch.zeros(0, dtype=torch.long)
        total = torch.zeros(1)
        for frame in range(encoded.size(0)):
            count = 0
            going = True
            while going and count < self.MOST:
                scores = self.join((encoded[frame] + self.of_labels(h2)).relu()).log_softmax(-1)
                best, label = scores.max(-1)
                total = total + best
                if int(label) == self.BLANK:
                    going = False
                else:
                    found = torch.cat([found, label])
                    h1, c1 = self.first(self.embed(label), (h1, c1))
                    h2, c2 = self.second(h1, (h2, c2))
                    count += 1
        return found, total


class TransducerSearch(nn.Module):
    def __init__(self):
        super().__init__()
        self.transducer = Transducer()
        self.search = torch.jit.script(GreedySearch(1000, 512))

    def forward(self, sound):
        return self.search(self.transducer.encode(sound))


def transducer_search(random):
    made = Network.filled(random, TransducerSearch(), lambda frames: {"sound": normal(random, frames, 1, 240)},
                          [(8,), (16,), (12,)], {"sound": ("frames",), "found": ("count",)}, ("found", "total"))
    # What LSTMs give is small: scores have to differ, and a frame to have a blank at times.
    made.module.transducer.of_sound.weight.mul_(4)
    made.module.search.join.weight.mul_(5)
    made.module.search.join.bias[GreedySearch.BLANK] += 4.5
    return made


# --- tags: LSTMs in both directions, and the best path through them

class BestPath(nn.Module):
    """Viterbi's: the best tag in front of each one, then back from the best of the end. Behind the end of a row its
    tag stays."""

    def __init__(self, tags):
        super().__init__()
        self.steps = nn.Parameter(torch.zeros(tags, tags))
        self.register_buffer("all", torch.arange(tags))

    def forward(self, scores: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        length = scores.size(1)
        best = scores[:, 0]
        origins = torch.zeros(scores.size(0), 0, scores.size(2), dtype=torch.long)
        for position in range(1, length):
            reached, origin = (best.unsqueeze(2) + self.steps).max(1)
            goes_on = (lengths > position).unsqueeze(1)
            best = torch.where(goes_on, reached + scores[:, position], best)
            origin = torch.where(goes_on, origin, self.all)
            origins = torch.cat([origins, origin.unsqueeze(1)], 1)
        total, tag = best.max(1)
        path = tag.unsqueeze(1)
        for position in range(1, length):
            tag = origins[:, length - 1 - position].gather(1, tag.unsqueeze(1)).squeeze(1)
            path = torch.cat([tag.unsqueeze(1), path], 1)
        return path, total


class Tagger(nn.Module):
    def __init__(self, words=100000, embedded=100, width=200, tags=17):
        super().__init__()
        self.embed = nn.Embedding(words, embedded)
        self.states = 4, width
        self.recurrent = nn.LSTM(embedded, width, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * width, tags)
        self.path = torch.jit.script(BestPath(tags))

    def forward(self, words, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(words), lengths, batch_first=True)
        none = torch.zeros(self.states[0], words.shape[0], self.states[1])
        states, _ = nn.utils.rnn.pad_packed_sequence(self.recurrent(packed, (none, none))[0], batch_first=True)
        scores = self.tags(states)
        return (scores, *self.path(scores, lengths))


def tagger(random):
    def inputs(batch, longest):
        return {"words": whole(random, 100000, batch, longest), "lengths": lengths_of(batch, longest)}
    return Network.filled(random, Tagger(), inputs, [(3, 9), (1, 17), (5, 12)],
                          {"words": ("batch", "longest"), "lengths": ("batch",)}, ("scores", "path", "total"))


# --- speech: Whisper's encoder and decoder, tiny

class Attention(nn.Module):
    """Keys and values of `memory`, or those of before with new ones behind them."""

    def __init__(self, width, heads):
        super().__init__()
        self.query, self.value, self.out = (nn.Linear(width, width) for _ in range(3))
        self.key = nn.Linear(width, width, bias=False)
        self.heads = heads

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def keys_and_values(self, memory):
        return self.split(self.key(memory)), self.split(self.value(memory))

    def forward(self, x, keys, values, mask=None):
        query = self.split(self.query(x))
        scores = query @ keys.transpose(2, 3) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores + mask
        mixed = (scores.softmax(-1) @ values).transpose(1, 2)
        return self.out(mixed.reshape(x.shape[0], x.shape[1], -1))


class Block(nn.Module):
    def __init__(self, width, heads, crossed):
        super().__init__()
        self.attention, self.first = Attention(width, heads), nn.LayerNorm(width)
        if crossed:
            self.cross, self.middle = Attention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.last = nn.LayerNorm(width)


class Listener(nn.Module):
    """Whisper's encoder, and the keys and values that its decoder reads of it."""

    def __init__(self, width=384, heads=6, layers=4, bands=80, most=1500):
        super().__init__()
        self.conv1 = nn.Conv1d(bands, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.blocks = nn.ModuleList(Block(width, heads, False) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.crosses = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        rates = torch.exp(-math.log(10000) / (width // 2 - 1) * torch.arange(width // 2))
        angles = torch.arange(most)[:, None] * rates[None]
        self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1))

    def forward(self, sound):
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(sound)))).transpose(1, 2)
        x = x + self.positions[:x.shape[1]]
        for block in self.blocks:
            normed = block.first(x)
            x = x + block.attention(normed, *block.attention.keys_and_values(normed))
            x = x + block.mlp(block.last(x))
        x = self.norm(x)
        found = [cross.keys_and_values(x) for cross in self.crosses]
        return (x, torch.stack([keys for keys, _ in found]), torch.stack([values for _, values in found]))


class Writer(nn.Module):
    """Whisper's decoder: new tokens behind those whose keys and values are given."""

    def __init__(self, width=384, heads=6, layers=4, vocabulary=51865, most=448):
        super().__init__()
        self.embed, self.places = nn.Embedding(vocabulary, width), nn.Parameter(torch.zeros(most, width))
        self.blocks = nn.ModuleList(Block(width, heads, True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens, keys, values, cross_keys, cross_values):
        before, count = keys.shape[3], tokens.shape[1]
        x = self.embed(tokens) + self.places[before:before + count]
        mask = torch.full((count, before + count), -math.inf).triu(1 + before)
        new_keys, new_values = [], []
        for number, block in enumerate(self.blocks):
            normed = block.first(x)
            own_keys, own_values = block.attention.keys_and_values(normed)
            new_keys.append(torch.cat([keys[number], own_keys], 2))
            new_values.append(torch.cat([values[number], own_values], 2))
            x = x + block.attention(normed, new_keys[-1], new_values[-1], mask)
            x = x + block.cross(block.middle(x), cross_keys[number], cross_values[number])
            x = x + block.mlp(block.last(x))
        logits = self.norm(x) @ self.embed.weight.t()
        return logits, torch.stack(new_keys), torch.stack(new_values)


def whisper_encoder(random):
    return Network.filled(random, Listener(),
                          lambda batch, frames: {"sound": normal(random, batch, 80, frames)},
                          [(1, 60), (2, 100), (1, 333)], {"sound": {0: "batch", 2: "frames"}},
                          ("encoded", "keys", "values"))


def whisper_decoder(random):
    def inputs(batch, count, before, frames):
        def cache(length):
            return normal(random, 4, batch, 6, length, 64)
        return {"tokens": whole(random, 51865, batch, count), "keys": cache(before), "values": cache(before),
                "cross_keys": cache(frames), "cross_values": cache(frames)}
    cache, cross = {1: "batch", 3: "before"}, {1: "batch", 3: "frames"}
    return Network.filled(random, Writer(), inputs, [(1, 4, 3, 30), (2, 1, 7, 50), (1, 3, 0, 166)],
                          {"tokens": ("batch", "count"), "keys": cache, "values": cache, "cross_keys": cross,
                           "cross_values": cross}, ("logits", "new_keys", "new_values"))


# --- text: a decoder with grouped queries and rotary embeddings

class RootNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class GroupedLayer(nn.Module):
    def __init__(self, width, heads, groups, inner):
        super().__init__()
        size = width // heads
        self.norm1, self.norm2 = RootNorm(width), RootNorm(width)
        self.query, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, groups * size, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        self.heads, self.groups, self.size = heads, groups, size

    @staticmethod
    def turn(x, cosines, sines):
        left, right = x.chunk(2, -1)
        return x * cosines + torch.cat([-right, left], -1) * sines

    def forward(self, x, keys, values, cosines, sines, mask):
        batch, count = x.shape[:2]
        normed = self.norm1(x)
        query, key, value = (part(normed).view(batch, count, -1, self.size).transpose(1, 2)
                             for part in (self.query, self.key, self.value))
        query, key = self.turn(query, cosines, sines), self.turn(key, cosines, sines)
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        repeats = self.heads // self.groups
        every_key, every_value = (
            part[:, :, None].expand(batch, self.groups, repeats, part.shape[2], self.size)
            .reshape(batch, self.heads, part.shape[2], self.size) for part in (keys, values))
        scores = (query @ every_key.transpose(2, 3) / math.sqrt(self.size) + mask).softmax(-1)
        x = x + self.out((scores @ every_value).transpose(1, 2).reshape(batch, count, -1))
        normed = self.norm2(x)
        return x + self.down(functional.silu(self.gate(normed)) * self.up(normed)), keys, values


class GroupedDecoder(nn.Module):
    """Llama's shape, with two groups of keys and values."""

    def __init__(self, vocabulary=8192, width=384, layers=11, heads=6, groups=2, inner=1024):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(GroupedLayer(width, heads, groups, inner) for _ in range(layers))
        self.norm = RootNorm(width)
        size = width // heads
        self.register_buffer("rates", 1 / 10000 ** (torch.arange(0, size, 2) / size))

    def forward(self, tokens, keys, values):
        before, count = keys.shape[3], tokens.shape[1]
        angles = torch.arange(before, before + count)[:, None] * self.rates
        cosines, sines = torch.cat([angles, angles], 1).cos(), torch.cat([angles, angles], 1).sin()
        mask = torch.full((count, before + count), -math.inf).triu(1 + before)
        x, new_keys, new_values = self.embed(tokens), [], []
        for number, layer in enumerate(self.layers):
            x, key, value = layer(x, keys[number], values[number], cosines, sines, mask)
            new_keys.append(key)
            new_values.append(value)
        logits = self.norm(x[:, -1]) @ self.embed.weight.t()
        return logits, torch.stack(new_keys), torch.stack(new_values)


def grouped_decoder(random):
    def inputs(batch, count, before):
        return {"tokens": whole(random, 8192, batch, count),
                "keys": normal(random, 11, batch, 2, before, 64), "values": normal(random, 11, batch, 2, before, 64)}
    cache = {1: "batch", 3: "before"}
    return Network.filled(random, GroupedDecoder(), inputs, [(2, 3, 4), (1, 7, 0), (3, 1, 9)],
                          {"tokens": ("batch", "count"), "keys": cache, "values": cache},
                          ("logits", "new_keys", "new_values"))


class Generator(nn.Module):
    """As many tokens behind a prompt as are asked for, in a loop whose caches grow."""

    def __init__(self):
        super().__init__()
        self.decoder = torch.jit.trace(GroupedDecoder(), (torch.zeros(1, 3, dtype=torch.long),
                                                          *(torch.zeros(11, 1, 2, 2, 64) for _ in range(2))))

    def forward(self, prompt: Tensor, count: int) -> Tensor:
        keys = torch.zeros(11, prompt.size(0), 2, 0, 64)
        values = keys
        tokens, new = prompt, prompt
        for _ in range(count):
            logits, keys, values = self.decoder(new, keys, values)
            new = logits.argmax(1, keepdim=True)
            tokens = torch.cat([tokens, new], 1)
        return tokens


def generator(random):
    def inputs(batch, count, new):
        return {"prompt": whole(random, 8192, batch, count), "count": torch.tensor(new)}
    made = Network.filled(random, Generator(), inputs, [(1, 5, 64), (2, 3, 8), (1, 9, 20)],
                          {"prompt": ("batch", "length"), "tokens": ("batch", "all")}, ("tokens",))
    made.module = torch.jit.script(made.module)
    return made


# --- sound: WaveNet

class Wavenet(nn.Module):
    """Thirty gated convolutions whose dilations double up to 512, three times."""

    def __init__(self, levels=256, width=64, gates=128, skipped=256, blocks=3, depth=10, bands=80):
        super().__init__()
        self.embed = nn.Embedding(levels, width)
        self.dilations = [2 ** layer for layer in range(depth)] * blocks
        self.convs = nn.ModuleList(nn.Conv1d(width, 2 * gates, 2, dilation=each) for each in self.dilations)
        self.conditions = nn.ModuleList(nn.Conv1d(bands, 2 * gates, 1) for _ in self.dilations)
        self.residuals = nn.ModuleList(nn.Conv1d(gates, width, 1) for _ in self.dilations)
        self.skips = nn.ModuleList(nn.Conv1d(gates, skipped, 1) for _ in self.dilations)
        self.out1, self.out2 = nn.Conv1d(skipped, skipped, 1), nn.Conv1d(skipped, levels, 1)

    def forward(self, samples, conditions):
        x = self.embed(samples).transpose(1, 2)
        total = 0
        for number, dilation in enumerate(self.dilations):
            both = self.convs[number](functional.pad(x, (dilation, 0))) + self.conditions[number](conditions)
            signal, gate = both.chunk(2, 1)
            gated = torch.tanh(signal) * torch.sigmoid(gate)
            total = total + self.skips[number](gated)
            x = (x + self.residuals[number](gated)) * math.sqrt(0.5)
        return self.out2(self.out1((total * math.sqrt(1 / len(self.dilations))).relu()).relu())


def wavenet(random):
    def inputs(batch, length):
        return {"samples": whole(random, 256, batch, length), "conditions": normal(random, batch, 80, length)}
    return Network.filled(random, Wavenet(), inputs, [(1, 100), (2, 64), (1, 700)],
                          {"samples": ("batch", "length"), "conditions": {0: "batch", 2: "length"}}, ("logits",))


NETWORKS = {made.__name__: made for made in (translator, transducer, transducer_search, tagger, whisper_encoder,
                                             whisper_decoder, grouped_decoder, generator, wavenet)}
