# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 10: sparse patterns
#
# They belong to the chapter *Sparse patterns*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 four patterns | 11 | 20 | ★★☆ | `window`, `dilated`, `blocks`, `global_tokens` |
# | Q2 patterns, joined | 9 | 20 | ★★☆ | `longformer`, `bigbird` |
# | Q3 pairs and layers | 13 | 25 | ★★★ | `pairs`, `layers_needed`, `reach` |
# | Q4 score only what is kept | 15 | 30 | ★★★ | `window_attention` |
# | Q5 find the bug | 5 | 10 | ★★☆ | `sink_attention`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` texts, `n` tokens, `q` queries, `k` keys, `d` features of a key, `e` features of a value, `l` layers. Places are counted from 0. In a mask **True means that a query may attend to a key**.
#
# In all questions a window of a given `width` reaches `D = width - 1` places to either side. $D$ may be 0: then a token has its own place alone.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch.nn import functional as F

# %%
### TOOLS

# %% [markdown]
# ## Q1. Four patterns
#
# *11 points, 20 minutes, ★★☆.* Write four patterns as boolean masks of `q` queries and `k` keys. The keys stand at the places 0, 1, …, `k` − 1. The queries stand side by side, the first one at the place `offset`: a decoder that keeps its keys in a cache needs the rows of its new tokens alone.
#
# - `window`: the keys at most $D$ places away from the query's place. With `causal`, none after the query's place.
# - `dilated`: the query's own place, and to either side `radius` keys, each `dilation` places away from the next.
# - `blocks`: the places are cut into pieces of `size`, the first of which begins at place 0. A query attends to the keys of its own piece.
# - `global_tokens`: a token at one of the `places` attends to everyone, and everyone attends to it. No other pair is kept.
#
# *Deliverable:* the four functions.


# %%
def window(q, k, width, offset=0, causal=False):
    """Boolean mask (q, k) of the keys near each query."""
    ### BEGIN SOLUTION
    i, j = torch.arange(offset, offset + q)[:, None], torch.arange(k)  # (q, 1), (k,)
    far = width - 1
    near = (i - j).abs() <= far
    return near & (j <= i) if causal else near
    ### END SOLUTION


def dilated(q, k, radius, dilation, offset=0):
    """Boolean mask (q, k) of a window with gaps."""
    ### BEGIN SOLUTION
    i, j = torch.arange(offset, offset + q)[:, None], torch.arange(k)
    return ((i - j) % dilation == 0) & ((i - j).abs() <= radius * dilation)
    ### END SOLUTION


def blocks(q, k, size, offset=0):
    """Boolean mask (q, k) of pieces of one size."""
    ### BEGIN SOLUTION
    i, j = torch.arange(offset, offset + q)[:, None], torch.arange(k)
    return i // size == j // size
    ### END SOLUTION


def global_tokens(q, k, places, offset=0):
    """Boolean mask (q, k) of the tokens at some places, a list."""
    ### BEGIN SOLUTION
    i, j = torch.arange(offset, offset + q)[:, None], torch.arange(k)
    chosen = torch.tensor(places)
    return torch.isin(i, chosen) | torch.isin(j, chosen)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Patterns, joined
#
# *9 points, 20 minutes, ★★☆.* Longformer joins a window and global tokens; BigBird adds keys that were drawn for each query once and for all. In each text other tokens are marked: where `marked[i, j]` is True, token `j` of text `i` attends to everyone, and everyone attends to it. `chosen[i]` holds the places of the `r` keys that were drawn for the query at place `i`, in all texts the same; a place may be drawn twice, or lie in the window.
#
# Two restrictions come on top, and nothing gets past them. Text `i` has `lengths[i]` tokens, the rest of its `n` places is padding, to which nobody attends. (What stands in the rows of padding does not matter to a model. Here they follow the same rules as all others.) And with `causal` nobody attends to what comes after its own place.
#
# *Deliverable:* `longformer` and `bigbird`.


# %%
def longformer(marked, lengths, width, causal=False):
    """Boolean mask (b, n, n) of marked tokens (b, n), boolean, and lengths (b,)."""
    ### BEGIN SOLUTION
    n = marked.shape[1]
    near = window(n, n, width)  # (n, n) | (b, n, 1) | (b, 1, n) -> (b, n, n)
    mask = near | marked.unsqueeze(2) | marked.unsqueeze(1)
    mask = mask & (torch.arange(n) < lengths[:, None, None])  # & (b, 1, n)
    return mask.tril() if causal else mask
    ### END SOLUTION


def bigbird(marked, lengths, width, chosen, causal=False):
    """Boolean mask (b, n, n) of the same, and of chosen keys (n, r)."""
    ### BEGIN SOLUTION
    n = marked.shape[1]
    drawn = torch.zeros(n, n, dtype=torch.bool).scatter(1, chosen, True)
    kept = window(n, n, width) | drawn | marked.unsqueeze(2) | marked.unsqueeze(1)
    kept = kept & (torch.arange(n) < lengths[:, None, None])
    return kept.tril() if causal else kept
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Pairs and layers
#
# *13 points, 25 minutes, ★★★.* Before anything is computed:
#
# - `pairs`: how many pairs of query and key a window keeps, when `n` tokens attend to themselves. Use a formula: `n` may be 10¹⁴, too large for a mask and for a loop. It may also be smaller than the window.
# - `layers_needed`: the fewest layers with causal windows after which the last of `n` tokens can depend on the first one. If it never can, None.
# - `reach`: `masks` holds the masks of `l` layers, the first layer's first, and they may differ; $l$ may be 0, or many hundreds. Entry $(i, j)$ of the result is True where token $i$ can depend on the input of token $j$ after all layers. Each layer has a residual connection, so a token keeps what it has, also where it may not attend to itself.
#
# *Deliverable:* the three functions. `pairs` and `layers_needed` return whole numbers.


# %%
def pairs(n, width, causal=False):
    """How many pairs a window keeps."""
    ### BEGIN SOLUTION
    far = min(width - 1, n - 1)  # a wider window keeps no more
    if causal:
        return n * (far + 1) - far * (far + 1) // 2
    return n * (2 * far + 1) - far * (far + 1)
    ### END SOLUTION


def layers_needed(n, width):
    """Layers until the last of n tokens can depend on the first, or None."""
    ### BEGIN SOLUTION
    far = width - 1
    if n == 1:
        return 0
    return -(-(n - 1) // far) if far else None  # rounded up
    ### END SOLUTION


def reach(masks):
    """Receptive fields (n, n), boolean, after layers with masks (l, n, n)."""
    ### BEGIN SOLUTION
    seen = torch.eye(masks.shape[1], dtype=torch.bool)
    for mask in masks:
        passed = mask.float() @ seen.float() > 0  # over one of the tokens that are attended to
        seen = seen | passed
    return seen
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Score only what is kept
#
# *15 points, 30 minutes, ★★★.* `window_attention` is scaled dot-product attention under a window: scores $\mathbf{q}_i^\top \mathbf{k}_j / \sqrt d$, a softmax over the keys of the window, and the weighted sum of the values. Text `i` has `lengths[i]` tokens, perhaps none. The places after them are padding, which may hold anything finite and gets no weight. Queries at padding are queries like all others. A query without any key has zeros as its output, and neither its output nor any gradient may be NaN. Gradients flow to queries, keys and values.
#
# Time and memory grow with $n$ and not with $n^2$: no tensor has $n^2$ entries, and 36,000 tokens with $D = 15$ take at most a few seconds. Cut the queries into blocks, and score each block with the keys that it can see. $n$ need not be a multiple of anything, and may be smaller than the window. Scores may be large.
#
# *Deliverable:* `window_attention`.


# %%
def window_attention(Q, K, V, lengths, width, causal=False):
    """Outputs (b, n, e) of queries and keys (b, n, d), values (b, n, e) and lengths (b,)."""
    ### BEGIN SOLUTION
    (b, n, d), far = Q.shape, width - 1
    size = far + 1  # of a block: nobody sees past the blocks beside its own
    c = -(-n // size)  # blocks, the last one perhaps not full
    rest = c * size - n

    def around(x):
        """Each block with those before and after it, (b, n, d) -> (b, c, 3 size, d)."""
        x = F.pad(x, (0, 0, size, rest + size))
        return x.unfold(1, 3 * size, size).mT

    queries = F.pad(Q, (0, 0, 0, rest)).reshape(b, c, size, d)
    i, j = torch.arange(size, 2 * size).unsqueeze(1), torch.arange(3 * size)
    near = (i - j).abs() <= far  # (size, 3 size), the same in each block
    if causal:
        near = near & (j <= i)
    place = j + size * torch.arange(-1, c - 1).unsqueeze(1)  # (c, 3 size), in the text
    real = (0 <= place) & (place < lengths[:, None, None])  # (b, c, 3 size)
    mask = near & real.unsqueeze(2)  # (b, c, size, 3 size)
    some = mask.any(dim=3, keepdim=True)  # a softmax over nothing would be NaN
    scores = queries @ around(K).mT / d**0.5
    weights = scores.masked_fill(~mask & some, -torch.inf).softmax(dim=3) * some
    output = weights @ around(V)  # (b, c, size, e)
    return output.reshape(b, c * size, -1)[:, :n]
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★★☆.* In a language model with causal windows, the first `g` tokens of a text may stay in everyone's sight; they are called sinks. So token $i$ attends, under one softmax, to its own place, to the $D$ places before it and to the sinks, and to nothing after its own place. `sink_attention` computes that for one text without a tensor of $n^2$ entries: each block of queries is scored with its own block and the one before it, and with the sinks beside them. All rows of weights sum to one, and late tokens get exactly what dense attention gives under the mask. But some early tokens do not. **One line is wrong**, and nothing is raised. Compare with dense attention, row by row, once you have removed the line that raises. Mend it.
#
# *Deliverable:* `sink_attention`, with one line changed.


# %%
def sink_attention(Q, K, V, width, g):
    """Outputs (n, e) of queries and keys (n, d) and values (n, e); g is at most n."""
    ### BEGIN SOLUTION
    (n, d), far = Q.shape, width - 1
    size = far + 1
    c = -(-n // size)
    rest = c * size - n

    def around(x):  # (n, d) -> (c, 2 size, d)
        return F.pad(x, (0, 0, size, rest)).unfold(0, 2 * size, size).mT

    queries = F.pad(Q, (0, 0, 0, rest)).reshape(c, size, d)
    i = torch.arange(c * size).reshape(c, size, 1)
    j = torch.arange(2 * size) + size * torch.arange(-1, c - 1)[:, None, None]
    near = (0 <= j) & (j <= i) & (i - j <= far)  # (c, size, 2 size)
    sinks = torch.arange(g) < i - far  # (c, size, g)
    keys = torch.cat((around(K), K[:g].expand(c, g, d)), dim=1)  # (c, 2 size + g, d)
    values = torch.cat((around(V), V[:g].expand(c, *V[:g].shape)), dim=1)
    scores = queries @ keys.mT / d**0.5
    mask = torch.cat((near, sinks), dim=2)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=2)
    return (weights @ values).reshape(c * size, -1)[:n]
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| (n, d), far = Q.shape, width - 1
    #| size = far + 1
    #| c = -(-n // size)
    #| rest = c * size - n
    #| def around(x):  # (n, d) -> (c, 2 size, d)
    #|     return F.pad(x, (0, 0, size, rest)).unfold(0, 2 * size, size).mT
    #| queries = F.pad(Q, (0, 0, 0, rest)).reshape(c, size, d)
    #| i = torch.arange(c * size).reshape(c, size, 1)
    #| j = torch.arange(2 * size) + size * torch.arange(-1, c - 1)[:, None, None]
    #| near = (0 <= j) & (j <= i) & (i - j <= far)  # (c, size, 2 size)
    #| sinks = torch.arange(g) <= i  # (c, size, g)
    #| keys = torch.cat((around(K), K[:g].expand(c, g, d)), dim=1)  # (c, 2 size + g, d)
    #| values = torch.cat((around(V), V[:g].expand(c, *V[:g].shape)), dim=1)
    #| scores = queries @ keys.mT / d**0.5
    #| mask = torch.cat((near, sinks), dim=2)
    #| weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=2)
    #| return (weights @ values).reshape(c * size, -1)[:n]
    ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports on a language model of 6 layers, each with a causal window of 512 keys (a token's own place and 511 before it): "Six layers of 512 keys: each token knows the last 3,072 tokens. The first token of the text is global, so that, as in Longformer, every token can reach every earlier one over it in two layers. In a second model I dilated all six layers by 2: it reaches twice as far with the same number of keys, and so it loses nothing." What is wrong with each of the three, and what holds or helps instead? Name one measurement or test that would have shown one of them.
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Each layer carries 511 places back, so six carry 3,066, and with its own a token can depend on 3,067 places; and this says what can arrive, not what does: with equal weights the farthest place has a share of one in $512^6$. In a causal model the global first token attends to itself alone, so it never contains anything of the others and no detour leads over it; later global tokens that see what came before them, or a dense layer now and then, would help. With the dilation of 2 everywhere a token reaches only places at an even distance, so half of the text, its direct neighbours included, stays out of sight at any depth; the dilation must differ by layer or head, or neighbours must be added. The gradient of the last output with respect to all inputs shows all three, because it is exactly zero where nothing can arrive.
#
# *Rubric, 4 points:* 3,066 places back (3,067 with its own), or: that a token can depend on them does not mean that it does (1); under a causal mask the first token has read nothing, so it passes nothing on (1); equal dilations reach half of the places only, mixed ones or neighbours help (1); a measurement or test that would really show one of the three (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about patterns, their cost or what they let through that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: how many layers does a window need until every token sees every other, with and without a few random keys? From which $n$ on is your windowed attention faster than a dense one under the mask?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
n = 64


def until_all(mask):
    """Layers until every token sees every other."""
    return next(l for l in range(1, n) if reach(mask.expand(l, n, n)).all())


print("random keys   layers, three seeds   a window of as many pairs")
for count in (0, 1, 2, 4, 8):
    layers = []
    for seed in range(3):
        order = torch.rand(n, n, generator=torch.Generator().manual_seed(seed)).argsort(dim=1)
        drawn = torch.zeros(n, n, dtype=torch.bool).scatter(1, order[:, :count], True)
        both = window(n, n, 4) | drawn
        layers.append(until_all(both))
    wider = next(w for w in range(4, 2 * n) if window(n, n, w).sum() >= both.sum())
    print(f"{count:11}   {layers!s:19}   {until_all(window(n, n, wider))}")
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# How many layers do 64 tokens need until every one sees every other, if a few random keys are added to a window, and if the window is made wider instead, until it has as many pairs? I expected random keys to save layers, more than width does; as many layers in both columns would have shown me wrong. One random key for each token saves more than half of the layers with all three seeds, and the wider window of as many pairs needs far more; further random keys save little. So random pairs are worth more than near ones, if all that counts is what can arrive. It does not show that a trained model uses the detours, and 64 tokens are few.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
