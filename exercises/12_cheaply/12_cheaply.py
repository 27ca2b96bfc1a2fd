# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 12: choosing cheaply
#
# They belong to the chapter *Choosing cheaply*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 blocks, and what they cost | 11 | 25 | ★★☆ | `block_means`, `keep_blocks`, `pairs` |
# | Q2 codes drawn at random | 12 | 25 | ★★☆ | `hash_codes`, `same_bucket`, `kept_share`, `rounds_needed` |
# | Q3 a scorer that learns | 13 | 25 | ★★★ | `indexer`, `keep_best`, `divergence`, `divergence_back` |
# | Q4 parts of attention, joined | 10 | 20 | ★★★ | `part`, `join` |
# | Q5 find the bug | 5 | 10 | ★★★ | `block_attention`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` sequences, `h` heads, `q` queries, `k` keys, `n` where there are as many queries as keys, `c` blocks, `d` features of a key, `e` features of a value. A block is `w` neighbouring keys; the last one may have fewer. In a mask **True means that a query may attend to a key**. What stands at a masked or unused place may be any finite number and has no effect. A query that may attend to nothing has zeros as its output, never NaN. No argument may be changed.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch.nn import functional as F


def masked_softmax(scores, mask):
    """Given: weights over the last axis, zeros where the mask is False. Scores must be finite."""
    some = mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(~mask & some, -torch.inf).softmax(dim=-1) * (mask & some)


# %%
### TOOLS

# %% [markdown]
# ## Q1. Blocks, and what they cost
#
# *11 points, 25 minutes, ★★☆.* Each query scores one vector for each block, and attends to the keys of the best blocks.
#
# - `block_means` gives each block the mean of its keys, of those that are used. A block without any has the mean 0.
# - `keep_blocks` says which keys each query keeps. Query $i$ stands at place $i$. It keeps `keep` blocks, or fewer if there are not so many: its own always, up to itself; and of the blocks that lie wholly before its own those with the largest `fits`. A block without a used key takes no place. Nothing after the query is kept, and no unused key. What queries keep that stand at an unused place does not matter. No two fits of a query are equal.
# - `pairs` counts what all $n$ queries together cost: each scores the mean of every block that lies wholly before its own, and then the keys that it keeps, all of them used. A mean that is scored counts as one pair, a key that is scored as one pair.
#
# *Deliverable:* the three functions; `pairs` gives a number.


# %%
def block_means(K, w, used):
    """Means (b, c, d) of keys (b, k, d), the size of a block and a boolean (b, k)."""
    ### BEGIN SOLUTION
    means = []
    for keys, on in zip(K.split(w, dim=1), used.split(w, dim=1), strict=True):
        total = keys.masked_fill(~on[:, :, None], 0.0).sum(dim=1)
        means.append(total / on.sum(dim=1, keepdim=True).clamp(min=1))
    return torch.stack(means, dim=1)
    ### END SOLUTION


def keep_blocks(fits, keep, w, used):
    """Boolean (b, n, n), the kept keys, of fits (b, n, c), two numbers and a boolean (b, n)."""
    ### BEGIN SOLUTION
    n, c = fits.shape[1:]
    place, number = torch.arange(n)[:, None], torch.arange(c)
    full = torch.stack([part.any(dim=1) for part in used.split(w, dim=1)], dim=1)  # (b, c)
    early = (number < place // w) & full[:, None]
    ranked = fits.masked_fill(~early, -torch.inf)
    ranked = ranked.masked_fill(number == place // w, torch.inf)
    best = ranked.topk(min(keep, c), dim=2).indices
    kept = torch.zeros_like(ranked, dtype=torch.bool).scatter(2, best, True)
    kept = kept.repeat_interleave(w, dim=2)[:, :, :n]
    return kept & (torch.arange(n) <= place) & used[:, None]
    ### END SOLUTION


def pairs(n, w, keep):
    """How many pairs are scored: n queries and keys, blocks of w, keep blocks a query."""
    ### BEGIN SOLUTION
    total = 0
    for i in range(n):
        before = i // w  # blocks
        total += before
        total += min(keep - 1, before) * w + i % w + 1
    return total
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Codes drawn at random
#
# *12 points, 25 minutes, ★★☆.* A hash gives each vector a code, in each round with other random numbers $\mathbf{H}$:
#
# $$ \operatorname{code}(\mathbf{x}) = \arg\max\, [\, \mathbf{x} \mathbf{H};\ -\mathbf{x} \mathbf{H}\, ]. $$
#
# - `hash_codes` gives the codes of all rounds, whole numbers from 0 on.
# - `same_bucket` keeps a pair if the two codes of any one round are equal and the mask allows it.
# - `kept_share` says which share of its draws keeps each pair on average, in `rounds` rounds, where $\mathbf{H}$ has a single column (two codes a round). One round separates two vectors at the angle $\theta$ with the probability $\theta / \pi$. Two vectors may be equal or opposite; none is zero.
# - `rounds_needed` goes the other way. If one round keeps a pair with the probability `p`, what is the smallest number of rounds that keep it with a probability of `share` at least? `p` may be 1, or as small as $10^{-12}$; `share` is below 1.
#
# *Deliverable:* the four functions; `rounds_needed` gives a whole number.


# %%
def hash_codes(x, H):
    """Codes (b, n, rounds), whole numbers, of vectors (b, n, d) and numbers (rounds, d, columns)."""
    ### BEGIN SOLUTION
    turned = torch.einsum("bnd,rdc->bnrc", x, H)
    codes = torch.cat((turned, -turned), dim=3).argmax(dim=3)
    return codes
    ### END SOLUTION


def same_bucket(one, other, mask):
    """Boolean (b, q, k), the kept pairs, of codes (b, q, rounds) and (b, k, rounds) and a mask (b, q, k)."""
    ### BEGIN SOLUTION
    agree = one[:, :, None] == other[:, None]  # (b, q, k, rounds)
    return agree.any(dim=3) & mask
    ### END SOLUTION


def kept_share(Q, K, rounds):
    """Shares (b, q, k) of queries (b, q, d), keys (b, k, d) and a number of rounds."""
    ### BEGIN SOLUTION
    cosine = F.normalize(Q, dim=2) @ F.normalize(K, dim=2).mT
    angle = cosine.clamp(-1, 1).acos()
    return 1 - (angle / torch.pi) ** rounds
    ### END SOLUTION


def rounds_needed(p, share):
    """How many rounds keep a pair with the probability share, if one does with p."""
    ### BEGIN SOLUTION
    lost = torch.tensor([share, p], dtype=torch.double)
    most, each = (-lost).log1p()
    return max(1, int((most / each).ceil()))  # each is -inf if p is 1
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. A scorer that learns
#
# *13 points, 25 minutes, ★★★.* An indexer scores each pair by a few small heads, which share one key:
#
# $$ \ell_{ij} = \sum_z \eta_i^{(z)} \operatorname{ReLU}\bigl( \mathbf{q}_i^{(z)\top} \mathbf{k}_j \bigr). $$
#
# - `indexer` computes these scores. No other factor belongs to them. The weights $\eta$ may be negative.
# - `keep_best` says which keys have the `keep` best scores, of those that the mask allows; all of these, if there are fewer. Where scores are equal it may take any of them, but it never keeps more than `keep`, which may be larger than `k`.
# - `divergence` is what the indexer learns from. Dense attention with $h$ heads has the weights $\alpha^{(1)}, \dots, \alpha^{(h)}$, and $\bar\alpha$ is their mean over the heads. For each query the loss is $\sum_j \bar\alpha_{ij} \ln (\bar\alpha_{ij} / s_{ij})$, where $s_{ij}$ are the softmax of $\ell_{ij}$ over the allowed keys; a weight of 0 adds nothing. What comes back is the mean over all queries of the batch that may attend to a key. One of them can, and masked weights are 0. Scores may be in the hundreds.
# - `divergence_back` is the gradient of this mean in $\ell_{ij}$, written by hand.
#
# *Deliverable:* the four functions.


# %%
def indexer(Q, K, eta):
    """Scores (b, q, k) of queries (b, q, h, d), keys (b, k, d) and weights (b, q, h)."""
    ### BEGIN SOLUTION
    products = torch.einsum("bqhd,bkd->bqhk", Q, K)
    active = products.relu()
    return (eta[:, :, :, None] * active).sum(dim=2)
    ### END SOLUTION


def keep_best(scores, keep, mask):
    """Boolean (b, q, k), the kept keys, of scores (b, q, k), a number and a mask (b, q, k)."""
    ### BEGIN SOLUTION
    allowed = scores.masked_fill(~mask, -torch.inf)
    best = allowed.topk(min(keep, scores.shape[2]), dim=2).indices
    return torch.zeros_like(mask).scatter(2, best, True) & mask
    ### END SOLUTION


def divergence(scores, alpha, mask):
    """The loss, a tensor of no axes, of scores and a mask (b, q, k) and weights (b, h, q, k)."""
    ### BEGIN SOLUTION
    target, some = alpha.mean(dim=1), mask.any(dim=2)
    logs = scores.masked_fill(~mask, -torch.inf)[some].log_softmax(dim=1)
    logs = logs.masked_fill(~mask[some], 0.0)
    entropy = torch.special.entr(target[some])  # -a ln a, and 0 for 0
    return -(entropy + target[some] * logs).sum(dim=1).mean()
    ### END SOLUTION


def divergence_back(scores, alpha, mask):
    """The slopes (b, q, k) of the loss in the scores."""
    ### BEGIN SOLUTION
    soft = masked_softmax(scores, mask)
    return (soft - alpha.mean(dim=1)) / mask.any(dim=2).sum()
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Parts of attention, joined
#
# *10 points, 20 minutes, ★★★.* The scores are $a_{ij} = \mathbf{q}_i^\top \mathbf{k}_j / \sqrt d$. Whoever attends to several sets of keys, one after the other, can join what came out, and has the same as from all of them at once.
#
# - `part` attends to one set of keys. Beside the outputs it gives for each query the logarithm of the sum of the exponentials of its scores, $\ln \sum_j e^{a_{ij}}$ over the allowed keys. Where none is allowed that is $-\infty$, and the output is zero.
# - `join` takes the outputs and logarithms of $c$ sets that have no key in common, and gives the output and the logarithm of all of them together. A set of which a query saw nothing has the logarithm $-\infty$ there, and any finite numbers as its output.
#
# Scores and logarithms may be in the hundreds. Gradients flow from the outputs of `part` to `Q`, `K` and `V`, from those of `join` to both of what it takes, and none may be NaN.
#
# *Deliverable:* the two functions.


# %%
def part(Q, K, V, mask):
    """Outputs (b, q, e) and logarithms (b, q) of Q (b, q, d), K (b, k, d), V (b, k, e), a mask (b, q, k)."""
    ### BEGIN SOLUTION
    scores = Q @ K.mT / Q.shape[2] ** 0.5
    output = masked_softmax(scores, mask) @ V
    return output, scores.masked_fill(~mask, -torch.inf).logsumexp(dim=2)
    ### END SOLUTION


def join(outputs, logs):
    """Outputs (b, q, e) and logarithms (b, q) of outputs (b, q, c, e) and logarithms (b, q, c)."""
    ### BEGIN SOLUTION
    there = logs > -torch.inf
    shares = masked_softmax(logs.masked_fill(~there, 0.0), there)
    return (shares[:, :, :, None] * outputs).sum(dim=2), logs.logsumexp(dim=2)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★★★.* `block_attention` computes causal attention to chosen blocks and nothing else: for each block it gathers the queries that chose it, and in the end it joins the parts of each query. Query $i$ stands at place $i$, and sees no key after itself. `chosen` has for each query the numbers of its blocks, no two alike; a block that lies after the query has no effect. Scores are $\mathbf{q}^\top \mathbf{k} / \sqrt d$. Where every query chose its own block alone the outputs are right, and no output depends on what stands behind its own block. But with other blocks it is not what dense attention gives under the mask of the chosen blocks. **One line is wrong**, and nothing is raised. Compare with dense attention, once you have removed the line that raises. Mend it.
#
# *Deliverable:* `block_attention`, with one line changed.


# %%
def block_attention(Q, K, V, chosen, w):
    """Outputs (n, e) of queries and keys (n, d), values (n, e) and block numbers (n, keep)."""
    ### BEGIN SOLUTION
    out = torch.zeros(*chosen.shape, V.shape[1])  # (n, keep, e)
    sums = torch.full(chosen.shape, -torch.inf)  # (n, keep), their logarithms
    for number in range(-(-len(K) // w)):
        first = number * w
        keys, values = K[first : first + w], V[first : first + w]
        i, slot = (chosen == number).nonzero(as_tuple=True)  # who chose this block
        i, slot = i[i >= first], slot[i >= first]
        seen = first + torch.arange(len(keys)) <= i[:, None]
        fit = Q[i] @ keys.mT / K.shape[1] ** 0.5
        out[i, slot] = masked_softmax(fit, seen) @ values
        sums[i, slot] = fit.masked_fill(~seen, -torch.inf).logsumexp(dim=1)
    joined = masked_softmax(sums.clamp(min=-1e9), sums > -torch.inf)
    return (joined[:, :, None] * out).sum(dim=1)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| out = torch.zeros(*chosen.shape, V.shape[1])  # (n, keep, e)
    #| sums = torch.full(chosen.shape, -torch.inf)  # (n, keep), their logarithms
    #| for number in range(-(-len(K) // w)):
    #|     first = number * w
    #|     keys, values = K[first : first + w], V[first : first + w]
    #|     i, slot = (chosen == number).nonzero(as_tuple=True)  # who chose this block
    #|     i, slot = i[i >= first], slot[i >= first]
    #|     seen = torch.arange(len(keys)) <= i[:, None] % w
    #|     fit = Q[i] @ keys.mT / K.shape[1] ** 0.5
    #|     out[i, slot] = masked_softmax(fit, seen) @ values
    #|     sums[i, slot] = fit.masked_fill(~seen, -torch.inf).logsumexp(dim=1)
    #| joined = masked_softmax(sums.clamp(min=-1e9), sums > -torch.inf)
    #| return (joined[:, :, None] * out).sum(dim=1)
    ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports on attention over 4,096 keys: "An indexer keeps 512 keys for each query, so attention costs an eighth. The indexer learns what to keep from the task: its best keys make the mask of attention, and since the loss of the model falls from step to step, it has learned it. A hash was our second way to choose; to test it we took 200 of the keys as queries, and each time the right key was found: a recall of 1.00 with a single round and 64 buckets." What is wrong with each of the three, and what holds or helps instead? Name one measurement or test that would have shown one of them.
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# The indexer scores all 4,096 keys for each query before 512 are kept, so its cost comes on top of the eighth and grows with the square of the length; and if the choice is only put into a mask, dense attention still computes every score and saves nothing. To count the choice as well, and to measure the time, is what holds. A mask has no gradient in the scores it was made from, so the indexer learned nothing: the loss fell because the rest of the model learned. It needs gates in the scores, a straight-through gradient, or the divergence from dense attention, which reaches every score. Equal vectors have equal codes whatever the hash is, so a recall of 1 on copies says nothing about vectors that are only near; recall must be given with the angle, at the angles which occur. The gradient of the loss in the indexer's parameters, which is None or zero, would have shown the second (or: the seconds of choice and attention together, the first; the same test with noisy copies of the keys, the third).
#
# *Rubric, 4 points:* the choice scores every pair and belongs to the cost, or a mask saves nothing (1); a mask sends the indexer no gradient; gates, straight-through or a divergence (1); copies share every code; recall at the angles that occur (1); a measurement or test that would really show one of the three (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about blocks, codes or indexers that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. The cell below makes queries that each look for one key. Take a question of your own, or one of these: how often is the right block among the best eighth of the blocks, as the blocks grow, and what do alike neighbours change? At about the same number of kept pairs, do few rounds of few buckets or many rounds of many buckets find more?
#
# *Deliverable:* a figure or a table from the second code cell below, and after the colon your question, what you expected, what came out, and what that does not show.


# %%
def haystack(n, seed, alike=0.0, queries=60, d=32, noise=0.3):
    """Queries (1, queries, d), keys (1, n, d), and the place (queries,) of the key that each looks for.

    alike: which part of a key's variance it shares with its 31 neighbours, from 0 to 1.
    """
    random = torch.Generator().manual_seed(seed)
    own = torch.randn(n, d, generator=random)
    shared = torch.randn(-(-n // 32), d, generator=random).repeat_interleave(32, dim=0)[:n]
    keys = F.normalize((1 - alike) ** 0.5 * own + alike**0.5 * shared, dim=1)
    place = torch.randint(n, (queries,), generator=random)
    asked = keys[place] + noise / d**0.5 * torch.randn(queries, d, generator=random)
    return asked[None], keys[None], place


# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("blocks of   unrelated keys, three seeds   alike neighbours")
for width in (2, 4, 8, 16, 32):
    row = []
    for similar in (0.0, 0.5):
        found = []
        for seed in range(3):
            asked, keys, place = haystack(1024, seed, similar)
            blocks = block_means(keys, width, torch.ones(1, 1024, dtype=torch.bool))
            fits = asked @ blocks.mT
            kept = keep_best(fits, fits.shape[2] // 8, torch.ones_like(fits, dtype=torch.bool))
            right = kept[0].gather(1, place[:, None] // width)
            found.append(f"{right.float().mean():.2f}")
        row.append(" ".join(found))
    print(f"{width:9}   {row[0]:27}   {row[1]}")
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# How often is the block of the right key among the best eighth, as the blocks grow, and does it help if neighbours are alike? I expected unrelated keys to be lost in larger blocks, since the lead of one key falls with the root of the block's size, and alike neighbours to be found nearly always up to blocks of 32; the same fall in both columns would have shown me wrong. With all three seeds it came so: from nearly all in blocks of two the first column falls to about 0.4 in blocks of 32, while the second stays at 1.00. So a mean stands for its block as well as the keys resemble each other. It does not show real keys, which are alike by degrees, nor what a trained model would make of its keys, and 60 queries leave some hundredths to chance.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
