"""Programs in the manner of PyTorch's public examples, part two: sequences, graphs, decisions.

Language models, prediction of a sine with LBFGS, policies, graph convolution and attention,
translation with a transformer, regression, the forward-forward method.
"""

import argparse
import math
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from common import array, digest, fill, integers
from torch.distributions import Categorical


class RNNModel(nn.Module):
    """An embedding, a recurrent network, a decoder that may share its weight."""

    def __init__(self, kind, ntoken, ninp, nhid, nlayers, tie_weights=False):
        super().__init__()
        self.drop = nn.Dropout(0.0)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, kind)(ninp, nhid, nlayers, dropout=0.0)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        self.ntoken, self.nhid, self.nlayers, self.kind = ntoken, nhid, nlayers, kind

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        if self.kind == "LSTM":
            shape = (self.nlayers, bsz, self.nhid)
            return (weight.new_zeros(shape), weight.new_zeros(shape))
        return weight.new_zeros(self.nlayers, bsz, self.nhid)


def repackage_hidden(h):
    """The hidden state without its history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def language_model(kind, tied):
    """Trains over a text in pieces, with clipping by hand-written steps."""
    ntokens, bptt = 30, 6
    text = integers("text", ntokens, 20 * 4)
    data = text.view(4, -1).t().contiguous()
    model = fill(RNNModel(kind, ntokens, 12, 12, 2, tied))
    criterion = nn.NLLLoss()
    hidden = model.init_hidden(4)
    losses, lr = [], 2.0
    for i in range(0, data.size(0) - 1, bptt):
        seq_len = min(bptt, len(data) - 1 - i)
        inputs, targets = data[i : i + seq_len], data[i + 1 : i + 1 + seq_len].view(-1)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(inputs, hidden)
        loss = criterion(output, targets)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        losses.append([loss.item(), float(norm)])
    return {"losses": losses, "perplexity": math.exp(losses[-1][0]), "out": digest(output)}


class PositionalEncoding(nn.Module):
    """Sines and cosines of positions."""

    def __init__(self, d_model, max_len=64):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(
            torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model)
        )
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

    def forward(self, x):
        return x + self.pe[: x.size(0), :]


def transformer_model():
    """Trains a transformer encoder with a causal mask on a text."""
    ntoken, ninp = 25, 16

    class Model(nn.Transformer):
        def __init__(self):
            super().__init__(d_model=ninp, nhead=2, dim_feedforward=32, num_encoder_layers=2,
                             dropout=0.0)  # fmt: skip
            self.pos_encoder = PositionalEncoding(ninp)
            self.input_emb = nn.Embedding(ntoken, ninp)
            self.out = nn.Linear(ninp, ntoken)

        def forward(self, src):
            mask = nn.Transformer.generate_square_subsequent_mask(len(src))
            src = self.pos_encoder(self.input_emb(src) * math.sqrt(ninp))
            return F.log_softmax(self.out(self.encoder(src, mask=mask)), dim=-1)

    model = fill(Model())
    data = integers("words", ntoken, 9, 3)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        output = model(data[:-1])
        loss = F.nll_loss(output.view(-1, ntoken), data[1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "out": digest(output)}


def translation():
    """Trains a whole transformer with masks of padding, then decodes greedily."""
    vocab, pad = 20, 1
    src, tgt = integers("source", vocab, 7, 3), integers("target", vocab, 6, 3)
    src[-2:, 0] = pad
    embed = fill(nn.Embedding(vocab, 16))
    model = fill(nn.Transformer(16, 4, 1, 1, 32, 0.0, activation="gelu", norm_first=True))
    head = fill(nn.Linear(16, vocab))
    parameters = [*embed.parameters(), *model.parameters(), *head.parameters()]
    optimizer = optim.Adam(parameters, lr=5e-3, betas=(0.9, 0.98), eps=1e-9)
    loss_fn = nn.CrossEntropyLoss(ignore_index=pad, label_smoothing=0.1)
    losses = []
    for _ in range(3):
        mask = model.generate_square_subsequent_mask(tgt.size(0) - 1)
        padding = (src == pad).transpose(0, 1)
        out = model(embed(src), embed(tgt[:-1]), tgt_mask=mask, src_key_padding_mask=padding,
                    memory_key_padding_mask=padding)  # fmt: skip
        logits = head(out)
        optimizer.zero_grad()
        loss = loss_fn(logits.reshape(-1, vocab), tgt[1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    ys = torch.ones(1, 1).fill_(2).type(torch.long)
    with torch.inference_mode():
        memory = model.encoder(embed(src[:, 1:2]))
        for _ in range(4):
            mask = model.generate_square_subsequent_mask(ys.size(0)).type(torch.float)
            out = model.decoder(embed(ys), memory, mask)
            _, word = torch.max(head(out[-1]), dim=1)
            ys = torch.cat([ys, torch.ones(1, 1).type_as(ys).fill_(word.item())], dim=0)
    return {"losses": losses, "logits": digest(logits), "decoded": ys.flatten().tolist()}


class Sequence(nn.Module):
    """Two LSTM cells that predict the next value, in double precision."""

    def __init__(self):
        super().__init__()
        self.lstm1 = nn.LSTMCell(1, 12)
        self.lstm2 = nn.LSTMCell(12, 12)
        self.linear = nn.Linear(12, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 12, dtype=torch.double)
        c_t = torch.zeros(input.size(0), 12, dtype=torch.double)
        h_t2, c_t2 = torch.zeros_like(h_t), torch.zeros_like(c_t)
        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for _ in range(future):
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        return torch.cat(outputs, dim=1)


def time_sequence():
    """Fits sines with LBFGS and predicts beyond them."""
    x = np.empty((6, 24), "int64")
    x[:] = np.array(range(24)) + np.arange(6).reshape(6, 1) * 5
    data = np.sin(x / 1.0 / 4).astype("float64")
    seq = fill(Sequence()).double()
    input, target = torch.from_numpy(data[2:, :-1]), torch.from_numpy(data[2:, 1:])
    criterion = nn.MSELoss()
    optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=4)
    losses = []
    for _ in range(3):

        def closure():
            optimizer.zero_grad()
            loss = criterion(seq(input), target)
            loss.backward()
            losses.append(loss.item())
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        pred = seq(torch.from_numpy(data[:2, :-1]), future=8)
    return {"losses": losses, "prediction": digest(pred)}


class Policy(nn.Module):
    """Scores of two actions."""

    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 16)
        self.dropout = nn.Dropout(p=0.0)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


class Cart:
    """A pole on a cart, in a few lines."""

    def reset(self):
        self.state = np.array([0.01, 0.02, -0.03, 0.01])
        return self.state.astype(np.float32)

    def step(self, action):
        x, v, a, w = self.state
        force = 10.0 if action else -10.0
        temp = (force + 0.05 * w * w * math.sin(a)) / 1.1
        lever = 0.5 * (4 / 3 - 0.1 * math.cos(a) ** 2 / 1.1)
        acc = (9.8 * math.sin(a) - math.cos(a) * temp) / lever
        push = temp - 0.05 * acc * math.cos(a) / 1.1
        self.state = np.array([x + 0.02 * v, v + 0.02 * push, a + 0.02 * w, w + 0.02 * acc])
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.209
        return self.state.astype(np.float32), 1.0, done


def reinforce():
    """Policy gradients over three episodes; actions are the likelier ones or by a fixed rule."""
    policy = fill(Policy())
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)
    env, eps = Cart(), np.finfo(np.float32).eps.item()
    history = []
    for episode in range(3):
        state = env.reset()
        for t in range(30):
            probs = policy(torch.from_numpy(state).float().unsqueeze(0))
            m = Categorical(probs)
            action = torch.tensor([t % 2]) if (t + episode) % 3 else m.probs.argmax(dim=1)
            policy.saved_log_probs.append(m.log_prob(action))
            state, reward, done = env.step(action.item())
            policy.rewards.append(reward)
            if done:
                break
        r, returns = 0, deque()
        for reward in policy.rewards[::-1]:
            r = reward + 0.99 * r
            returns.appendleft(r)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + eps)
        policy_loss = [-p * r for p, r in zip(policy.saved_log_probs, returns)]
        optimizer.zero_grad()
        loss = torch.cat(policy_loss).sum()
        loss.backward()
        optimizer.step()
        history.append([loss.item(), t, m.entropy().item()])
        del policy.rewards[:]
        del policy.saved_log_probs[:]
    return {"history": history, "weights": digest(policy.affine2.weight)}


def actor_critic():
    """A policy and a value from one body, trained with the smooth L1 loss of advantages."""
    body, actor, critic = fill(nn.Linear(4, 16)), fill(nn.Linear(16, 2)), fill(nn.Linear(16, 1))
    parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
    optimizer = optim.Adam(parameters, lr=3e-2)
    losses = []
    for i in range(3):
        states = array(f"states{i}", 10, 4)
        h = F.relu(body(states))
        dist = Categorical(logits=actor(h))
        value = critic(h).squeeze(-1)
        actions, rewards = integers(f"actions{i}", 2, 10), array(f"rewards{i}", 10)
        advantage = rewards - value
        loss = (-dist.log_prob(actions) * advantage.detach()).sum()
        loss = loss + F.smooth_l1_loss(value, rewards, reduction="sum")
        loss = loss - 0.01 * dist.entropy().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "value": digest(value)}


class GraphConv(nn.Module):
    """A product with a weight and with a normalised adjacency matrix."""

    def __init__(self, fin, fout):
        super().__init__()
        self.kernel = nn.Parameter(torch.Tensor(fin, fout))
        nn.init.xavier_normal_(self.kernel)
        self.bias = nn.Parameter(torch.zeros(fout))

    def forward(self, x, adj):
        return torch.mm(adj, torch.mm(x, self.kernel)) + self.bias


def graph():
    """A small graph with features and classes."""
    n = 20
    edges = integers("edges", n, 2, 50)
    adj = torch.zeros(n, n)
    adj[edges[0], edges[1]] = 1.0
    adj = ((adj + adj.t()) > 0).float() + torch.eye(n)
    degree = adj.sum(1).pow(-0.5)
    return array("nodes", n, 8), degree.diag() @ adj @ torch.diag(degree), integers("classes", 3, n)


def gcn():
    """Trains two graph convolutions on some nodes and tests on the others."""
    x, adj, y = graph()
    model = fill(nn.ModuleList([GraphConv(8, 6), GraphConv(6, 3)]))
    optimizer = optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
    train = torch.arange(20) < 12
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        out = F.log_softmax(model[1](F.relu(model[0](x, adj)), adj), dim=1)
        loss = F.nll_loss(out[train], y[train])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    correct = (out[~train].argmax(1) == y[~train]).sum()
    return {"losses": losses, "correct": int(correct), "out": digest(out)}


def gat():
    """Graph attention: scores from pairs of nodes, masked by edges."""
    x, adj, y = graph()
    w, a = fill(nn.Linear(8, 6, bias=False)), nn.Parameter(array("a", 12, 1))
    head = fill(nn.Linear(6, 3))
    optimizer = optim.RMSprop([*w.parameters(), a, *head.parameters()], lr=1e-2)
    losses = []
    for _ in range(3):
        h = w(x)
        scores = F.leaky_relu(h @ a[:6] + (h @ a[6:]).T, 0.2)
        scores = torch.where(adj > 0, scores, torch.full_like(scores, -9e15))
        h = F.elu(F.softmax(scores, dim=-1) @ h)
        loss = F.cross_entropy(head(h), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "scores": digest(scores.masked_fill(adj == 0, 0.0))}


def regression():
    """Fits a polynomial of degree four with hand-written steps."""
    weight, bias = array("target", 4, 1) * 5, 1.5
    fc = fill(nn.Linear(4, 1))
    losses = []
    for i in range(5):
        x = array(f"points{i}", 32).unsqueeze(1)
        features = torch.cat([x**k for k in range(1, 5)], 1)
        target = features.mm(weight) + bias
        fc.zero_grad()
        output = F.smooth_l1_loss(fc(features), target)
        losses.append(output.item())
        output.backward()
        for param in fc.parameters():
            param.data.add_(-0.1 * param.grad)
    return {"losses": losses, "weight": fc.weight.view(-1).tolist(), "bias": fc.bias.tolist()}


def forward_forward():
    """Trains layers one after another without passing gradients between them."""
    layers = [fill(nn.Linear(12, 10)), fill(nn.Linear(10, 8))]
    optimizers = [optim.Adam(layer.parameters(), lr=0.02) for layer in layers]
    good, bad = array("good", 9, 12), array("bad", 9, 12)
    losses = []
    for layer, optimizer in zip(layers, optimizers):
        for _ in range(3):
            sums = []
            for x in (good, bad):
                direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
                sums.append(torch.relu(layer(direction)).pow(2).mean(1))
            loss = torch.log(1 + torch.exp(torch.cat([-sums[0] + 2.0, sums[1] - 2.0]))).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            good, bad = (torch.relu(layer(x)) for x in (good, bad))
    return {"losses": losses, "good": digest(good)}


def command_line():
    """A program that reads its options, seeds everything and prints its model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--no-cuda", action="store_true", default=False)
    args = parser.parse_args([])
    torch.manual_seed(1)
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Dropout(0.25)).to(device)
    x = torch.randn(args.batch_size, 3, device=device)
    torch.set_printoptions(precision=3)
    text = f"{model}\n{x}\n{x.mean():.4f}"
    torch.set_printoptions(profile="default")
    return {"text": text, "out": digest(model.eval()(x)), "count": sum(
        p.numel() for p in model.parameters() if p.requires_grad)}  # fmt: skip


PROGRAMS = {
    "word_language_model_lstm": lambda: language_model("LSTM", True),
    "word_language_model_gru": lambda: language_model("GRU", False),
    "transformer_language_model": transformer_model,
    "translation": translation,
    "time_sequence_prediction": time_sequence,
    "reinforce": reinforce,
    "actor_critic": actor_critic,
    "graph_convolution": gcn,
    "graph_attention": gat,
    "regression": regression,
    "forward_forward": forward_forward,
    "command_line": command_line,
}
