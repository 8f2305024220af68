"""Networks of graphs and of tables, in torch."""
# SPDX-License-Identifier: Apache-2.0
import torch
from torch import nn
from torch.nn import functional

from exported_shared import Network, normal, whole


# --- meshes: messages along edges, added where they arrive

def perceptron(read, width, written, normed=True):
    return nn.Sequential(nn.Linear(read, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, written), *([nn.LayerNorm(written)] if normed else []))


class MeshNetwork(nn.Module):
    """MeshGraphNets: fifteen steps of messages, 128 wide."""

    def __init__(self, of_nodes=12, of_edges=7, width=128, steps=15, results=3):
        super().__init__()
        self.nodes, self.edges = perceptron(of_nodes, width, width), perceptron(of_edges, width, width)
        self.of_edges = nn.ModuleList(perceptron(3 * width, width, width) for _ in range(steps))
        self.of_nodes = nn.ModuleList(perceptron(2 * width, width, width) for _ in range(steps))
        self.out = perceptron(width, width, results, False)

    def forward(self, nodes, edges, ends):
        x, messages = self.nodes(nodes), self.edges(edges)
        source, target = ends[0], ends[1]
        for of_edges, of_nodes in zip(self.of_edges, self.of_nodes):
            messages = messages + of_edges(torch.cat([messages, x[source], x[target]], 1))
            arrived = torch.zeros_like(x).index_add(0, target, messages)
            x = x + of_nodes(torch.cat([x, arrived], 1))
        return self.out(x)


def mesh(random):
    def inputs(nodes, edges):
        return {"nodes": normal(random, nodes, 12), "edges": normal(random, edges, 7),
                "ends": whole(random, nodes, 2, edges)}
    return Network.filled(random, MeshNetwork(), inputs, [(20, 60), (33, 47), (8, 100)],
                          {"nodes": ("nodes",), "edges": ("edges",), "ends": {1: "edges"}}, ("moved",))


# --- citations: attention over the edges that arrive

class GraphAttention(nn.Module):
    """GAT: the softmax is that of the edges of one node."""

    def __init__(self, read, heads, width):
        super().__init__()
        self.project = nn.Linear(read, heads * width, bias=False)
        self.of_source, self.of_target = (nn.Parameter(torch.zeros(heads, width)) for _ in range(2))
        self.heads, self.width = heads, width

    def forward(self, x, source, target):
        x = self.project(x).view(-1, self.heads, self.width)
        scores = functional.leaky_relu((x * self.of_source).sum(-1)[source] + (x * self.of_target).sum(-1)[target],
                                       0.2)
        places = target[:, None].expand_as(scores)
        none = torch.zeros(x.shape[0], self.heads)
        weights = (scores - scores.max()).exp()
        sums = none.scatter_add(0, places, weights)
        weights = weights / (sums[target] + 1e-16)
        messages = x[source] * weights[..., None]
        return torch.zeros_like(x).scatter_add(0, target[:, None, None].expand_as(messages), messages).flatten(1)


class Citations(nn.Module):
    def __init__(self, words=1433, heads=8, width=8, classes=7):
        super().__init__()
        self.first, self.second = GraphAttention(words, heads, width), GraphAttention(heads * width, 1, classes)

    def forward(self, x, ends):
        source, target = ends[0], ends[1]
        return self.second(functional.elu(self.first(x, source, target)), source, target).log_softmax(-1)


def citations(random):
    def inputs(nodes, edges):
        return {"x": normal(random, nodes, 1433), "ends": whole(random, nodes, 2, edges)}
    return Network.filled(random, Citations(), inputs, [(20, 60), (33, 47), (8, 100)],
                          {"x": ("nodes",), "ends": {1: "edges"}}, ("scores",))


# --- recommendation: DLRM

class Dlrm(nn.Module):
    """The shape of its paper for Criteo's data, with tables of 40,000 rows: bags of embeddings, their products with
    one another and with what is dense, and a perceptron."""
    TABLES, ROWS, WIDTH, DENSE = 26, 40000, 16, 13

    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(self.ROWS, self.WIDTH, mode="sum") for _ in range(self.TABLES))
        self.bottom = nn.Sequential(nn.Linear(self.DENSE, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
                                    nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, self.WIDTH), nn.ReLU())
        pairs = (self.TABLES + 1) * self.TABLES // 2
        self.top = nn.Sequential(nn.Linear(pairs + self.WIDTH, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(),
                                 nn.Linear(256, 1), nn.Sigmoid())
        lower = torch.tril_indices(self.TABLES + 1, self.TABLES + 1, -1)
        self.register_buffer("rows", lower[0])
        self.register_buffer("columns", lower[1])

    def bag(self, number, picked):
        return self.bags[number](picked[number])

    def forward(self, dense, picked):
        dense = self.bottom(dense)
        vectors = torch.stack([dense] + [self.bag(number, picked) for number in range(self.TABLES)], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        return self.top(torch.cat([dense, products[:, self.rows, self.columns]], 1))


def dlrm(random):
    """Bags of one size in a run."""
    def inputs(batch, count):
        return {"dense": normal(random, batch, Dlrm.DENSE),
                "picked": whole(random, Dlrm.ROWS, Dlrm.TABLES, batch, count)}
    return Network.filled(random, Dlrm(), inputs, [(3, 2), (16, 1), (7, 5)],
                          {"dense": ("batch",), "picked": {1: "batch", 2: "count"}}, ("click",))


class DlrmOffsets(Dlrm):
    """Bags that begin at offsets in one list, as the paper's code has them."""

    def forward(self, dense, picked, offsets):
        dense = self.bottom(dense)
        vectors = torch.stack([dense] + [self.bags[number](picked[number], offsets[number])
                                         for number in range(self.TABLES)], 1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))
        return self.top(torch.cat([dense, products[:, self.rows, self.columns]], 1))


def dlrm_offsets(random):
    def inputs(batch, count):
        begins = torch.cat([torch.zeros(Dlrm.TABLES, 1, dtype=torch.long),
                            whole(random, count + 1, Dlrm.TABLES, batch - 1).sort(1)[0]], 1)
        return {"dense": normal(random, batch, Dlrm.DENSE),
                "picked": whole(random, Dlrm.ROWS, Dlrm.TABLES, count), "offsets": begins}
    return Network.filled(random, DlrmOffsets(), inputs, [(3, 7), (8, 20), (2, 2)],
                          {"dense": ("batch",), "picked": {1: "count"}, "offsets": {1: "batch"}}, ("click",))


NETWORKS = {made.__name__: made for made in (mesh, citations, dlrm, dlrm_offsets)}
