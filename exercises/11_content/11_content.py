# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 11: choosing by content
#
# They belong to the chapter *Choosing by content*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 sparsemax and what it sends back | 9 | 20 | ★★☆ | `sparsemax`, `sparsemax_back` |
# | Q2 entmax, and how long a lead must be | 12 | 25 | ★★★ | `entmax`, `lead` |
# | Q3 a hard choice that learns | 12 | 25 | ★★★ | `top_k_mask`, `pass_through`, `reinforce` |
# | Q4 gates, a sink, and what was kept | 13 | 25 | ★★☆ | `gated`, `penalty`, `sink_softmax`, `recall_precision` |
# | Q5 find the bug | 5 | 10 | ★★★ | `scan_attention`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` sequences, `h` heads, `q` queries, `k` keys, `d` features of a key, `e` features of a value. In a mask **True means that a query may attend to a key**. A masked score may be any finite number and has no effect. A query that may attend to nothing has zeros as its weights and as its output, never NaN. No argument may be changed.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch.nn import functional as F


def masked_softmax(scores, mask):
    """Given: weights over the last axis, zeros where the mask is False."""
    some = mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(~mask & some, -torch.inf).softmax(dim=-1) * (mask & some)


# %%
### TOOLS

# %% [markdown]
# ## Q1. Sparsemax and what it sends back
#
# *9 points, 20 minutes, ★★☆.* Sparsemax subtracts one number $t$ from all scores of a query and cuts at zero:
#
# $$ \alpha_j = \max(0,\ a_j - t), \qquad t \ \text{such that} \ \textstyle\sum_j \alpha_j = 1. $$
#
# - `sparsemax` finds $t$ from the sorted scores, for all rows at once. There may be thousands of keys, and all scores may be large; a number that is added to every score must change nothing.
# - `sparsemax_back` is its backward pass, written by hand: from the weights $\alpha_j$ and the slopes $u_j = \partial L / \partial \alpha_j$ it makes $\partial L / \partial a_j$. It has no scores and needs none. A row of zeros sends back zeros.
#
# *Deliverable:* the two functions.


# %%
def sparsemax(scores, mask):
    """Weights (b, q, k) of scores (b, q, k) and a boolean mask (b, q, k)."""
    ### BEGIN SOLUTION
    some = mask.any(dim=2, keepdim=True)
    a = scores.masked_fill(~mask & some, -torch.inf)
    a = a - a.amax(dim=2, keepdim=True)
    ordered = a.sort(dim=2, descending=True).values
    rank = torch.arange(1, a.shape[2] + 1)
    t = (ordered.cumsum(dim=2) - 1) / rank  # if the best 1, 2, ... are kept
    size = (ordered > t).sum(dim=2, keepdim=True)
    return (a - t.gather(2, size - 1)).clamp(min=0) * some
    ### END SOLUTION


def sparsemax_back(weights, u):
    """Slopes (b, q, k) in the scores, of weights and slopes in the weights (b, q, k)."""
    ### BEGIN SOLUTION
    kept = (weights > 0).to(u.dtype)
    number = kept.sum(dim=2, keepdim=True).clamp(min=1)
    mean = (kept * u).sum(dim=2, keepdim=True) / number
    return kept * (u - mean)
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Entmax, and how long a lead must be
#
# *12 points, 25 minutes, ★★★.* Entmax has an exponent $\beta$, and here each head has its own, from 1.05 to 2:
#
# $$ \alpha_j = \max\bigl(0,\ (\beta - 1)\, a_j - t\bigr)^{1 / (\beta - 1)}, \qquad \textstyle\sum_j \alpha_j = 1. $$
#
# - `entmax` finds $t$ by bisection, for all rows at once. Again scores may be large, and a number that is added to every score changes nothing.
# - `lead` needs no bisection. One key has the score $s$, the other $n - 1$ have the score 0. Which $s$ gives the one a weight of `share`, with the exponent `beta`, a number from 1 to 2? Where `beta` is 1 the weights are the softmax of $a_j$. There may be $10^{12}$ keys. With `share` = 1 it is the smallest $s$ at which the others have nothing; where none is large enough, it is `float("inf")`.
#
# *Deliverable:* `entmax`, and `lead`, a number.


# %%
def entmax(scores, beta, mask):
    """Weights (h, q, k) of scores (h, q, k), exponents beta (h,) and a boolean mask (h, q, k)."""
    ### BEGIN SOLUTION
    beta = beta[:, None, None]
    some = mask.any(dim=2, keepdim=True)
    a = scores.masked_fill(~mask & some, -torch.inf)
    z = (beta - 1) * (a - a.amax(dim=2, keepdim=True))
    power = 1 / (beta - 1)
    high = torch.zeros_like(z[:, :, :1])  # the best key has nothing
    low = high - 1  # the best key has weight 1
    for _ in range(40):
        t = (low + high) / 2
        enough = ((z - t).clamp(min=0) ** power).sum(dim=2, keepdim=True) >= 1
        low, high = torch.where(enough, t, low), torch.where(enough, high, t)
    weights = (z - low).clamp(min=0) ** power
    return weights / weights.sum(dim=2, keepdim=True) * some
    ### END SOLUTION


def lead(n, share, beta):
    """How much one of n keys must lead by, so that it has this share."""
    ### BEGIN SOLUTION
    rest = (1 - share) / (n - 1)  # of each other key
    if beta == 1:
        if share == 1:
            return float("inf")
        odds = torch.tensor(share / rest, dtype=torch.double)
        return odds.log().item()
    gap = share ** (beta - 1) - rest ** (beta - 1)
    return gap / (beta - 1)
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. A hard choice that learns
#
# *12 points, 25 minutes, ★★★.* Three pieces of attention that reads few keys:
#
# - `top_k_mask` says for each query which `k` keys have the best scores, of those that it may attend to; all of those, if there are fewer. Where scores are equal it may take any of them, but it never keeps more than `k`. `k` may be larger than the number of keys.
# - `pass_through` attends to those keys alone: a softmax over them, and the weighted sum of their values. But it learns straight through: **for the scores**, the gradient is what it would be if the weights were the softmax of the scores over all keys that a query may attend to. **For the values**, it is that of the weights which were really used. No gradient may be NaN.
# - `reinforce` estimates a gradient from keys that were drawn, one for each row of weights. Row $i$ drew the key `drawn[i]` and got the reward `rewards[i]`; what comes back is the REINFORCE estimate of the gradient of the expected reward in the scores of a softmax, less a baseline. The reward is to grow.
#
# *Deliverable:* the three functions.


# %%
def top_k_mask(scores, k, mask):
    """Boolean mask (b, q, k) of the best keys, of scores (b, q, k) and a mask (b, q, k)."""
    ### BEGIN SOLUTION
    ranked = scores.masked_fill(~mask, -torch.inf)
    best = ranked.topk(min(k, scores.shape[2]), dim=2).indices
    return torch.zeros_like(mask).scatter(2, best, True) & mask
    ### END SOLUTION


def pass_through(scores, V, k, mask):
    """Outputs (b, q, e) of scores (b, q, k), values V (b, k, e) and a mask (b, q, k)."""
    ### BEGIN SOLUTION
    hard = masked_softmax(scores, top_k_mask(scores, k, mask))
    soft = masked_softmax(scores, mask)
    weights = hard.detach() + soft - soft.detach()
    return weights @ V
    ### END SOLUTION


def reinforce(weights, drawn, rewards, baseline):
    """Estimates (b, k) of weights (b, k), drawn keys (b,) and rewards (b,)."""
    ### BEGIN SOLUTION
    picked = F.one_hot(drawn, weights.shape[1])
    return (rewards - baseline).unsqueeze(1) * (picked - weights)
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Gates, a sink, and what was kept
#
# *13 points, 25 minutes, ★★☆.* A predictor gives each pair a relevance $\ell_{ij}$, and so a gate $g_{ij} = \operatorname{sigmoid}(\ell_{ij})$.
#
# - `gated` attends with gates at one of two places. With `where="values"` the weights of a softmax are multiplied by the gates, with `where="scores"` the logarithms of the gates are added to the scores before the softmax. It returns outputs and weights, the gates in them. Gates may be almost shut, all gates of a query too: with a relevance of −300, say.
# - `penalty` is what holds gates shut: the mean gate, over all pairs of the batch that the mask allows. One of them at least is allowed.
# - `sink_softmax` gives each head a sink, a score that stands beside the others in the softmax and has no value behind it. It returns the weights of the keys alone. Scores and sinks may be large.
# - `recall_precision` judges a choice where it is known which keys matter, the needles. Recall is the share of a query's needles that were kept, precision the share of its kept keys that are needles; both are averaged over the queries. A query without needles has no recall, one that keeps nothing has no precision, and neither counts in that average. If none counts, the average is None.
#
# *Deliverable:* the four functions.


# %%
def gated(scores, logits, V, where, mask):
    """Outputs (b, q, e) and weights (b, q, k) of scores, relevance logits, mask (b, q, k) and V (b, k, e)."""
    ### BEGIN SOLUTION
    if where == "values":
        weights = masked_softmax(scores, mask) * logits.sigmoid()
    else:
        weights = masked_softmax(scores + F.logsigmoid(logits), mask)
    return weights @ V, weights
    ### END SOLUTION


def penalty(logits, mask):
    """The mean gate, a tensor of no axes, of logits and a mask (b, q, k)."""
    ### BEGIN SOLUTION
    return logits.sigmoid()[mask].mean()
    ### END SOLUTION


def sink_softmax(scores, sinks, mask):
    """Weights (b, h, q, k) of scores (b, h, q, k), sinks (h,) and a boolean mask (b, 1, q, k)."""
    ### BEGIN SOLUTION
    b, h, q, k = scores.shape
    beside = sinks[:, None, None].expand(b, h, q, 1)
    open_ = scores.masked_fill(~mask, -torch.inf)
    return torch.cat((open_, beside), dim=3).softmax(dim=3)[..., :k]
    ### END SOLUTION


def recall_precision(kept, needles):
    """Recall and precision, numbers or None, of boolean tables (b, q, k)."""
    ### BEGIN SOLUTION
    both = (kept & needles).sum(dim=2)
    means = []
    for of in (needles.sum(dim=2), kept.sum(dim=2)):
        share = both[of > 0] / of[of > 0]
        means.append(share.mean().item() if len(share) else None)
    return tuple(means)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★★★.* `scan_attention` has two stages. It looks at the relevance of all keys, takes for each query the `keep` keys of the largest relevance, and reads only these: their keys, their values, their gates. With $g = \operatorname{sigmoid}(\ell)$, its scores are $\mathbf{q}^\top \mathbf{k} / \sqrt d + \ln g$, and a softmax over the kept ones follows. Sequence `i` has `lengths[i]` tokens, at least one; the rest is padding, which gets no weight; where it has fewer than `keep`, all of them are kept. `keep` is at most `k`. The kept keys are the right ones, all weights sum to one, and where all relevances are equal so is the output. But with other relevances it is not what dense attention gives under the mask of the kept keys. **One line is wrong**, and nothing is raised. Compare with dense attention, once you have removed the line that raises. Mend it.
#
# *Deliverable:* `scan_attention`, with one line changed.


# %%
def scan_attention(Q, K, V, logits, lengths, keep):
    """Outputs (b, q, e) of queries (b, q, d), keys (b, k, d), values (b, k, e), logits (b, q, k)."""
    ### BEGIN SOLUTION
    b, _, k = logits.shape
    real = torch.arange(k) < lengths[:, None, None]
    scan = logits.masked_fill(~real, -torch.inf)
    best = scan.topk(keep, dim=2)
    places = best.indices.sort(dim=2).values  # as they lie in memory
    row = torch.arange(b)[:, None, None]
    keys, values = K[row, places], V[row, places]  # (b, q, keep, d), (b, q, keep, e)
    relevance = scan.gather(2, places)
    scores = (keys @ Q.unsqueeze(3)).squeeze(3) / Q.shape[2] ** 0.5
    weights = (scores + F.logsigmoid(relevance)).softmax(dim=2)
    return (weights.unsqueeze(2) @ values).squeeze(2)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| b, _, k = logits.shape
    #| real = torch.arange(k) < lengths[:, None, None]
    #| scan = logits.masked_fill(~real, -torch.inf)
    #| best = scan.topk(keep, dim=2)
    #| places = best.indices.sort(dim=2).values  # as they lie in memory
    #| row = torch.arange(b)[:, None, None]
    #| keys, values = K[row, places], V[row, places]  # (b, q, keep, d), (b, q, keep, e)
    #| relevance = best.values
    #| scores = (keys @ Q.unsqueeze(3)).squeeze(3) / Q.shape[2] ** 0.5
    #| weights = (scores + F.logsigmoid(relevance)).softmax(dim=2)
    #| return (weights.unsqueeze(2) @ values).squeeze(2)
    ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports on attention over 256 keys, of which three matter to each query: "To make the softmax sparse I added 0.01 times the L1 norm of its weights to the loss, and now the weights are sparser than before. In a second model I used top-4 from the first step on, with a learned vector for each word that can be asked for; the keys that it misses at first come back as training goes on, because the loss pushes their scores up. Both models find all three keys: a key counts as found if its weight is above zero, and the softmax has a recall of 1.00." What is wrong with each of the three, and what holds or helps instead? Name one measurement or test that would have shown one of them.
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Softmax weights are positive and sum to one, so their L1 norm is 1 whatever the scores are; its gradient is zero, and whatever made the weights sparser, the penalty did not. A penalty must sit where the sum can change, on gates for instance, or the normaliser must be able to give zeros, such as sparsemax. A key without weight gets no gradient through its score, so the loss does not push it up; with a vector for each word it comes back only by accident, when the map of the keys moves, and that takes many steps. What helps is a soft beginning (a softmax for the first steps, or for some choices first scores that are nearly alike), or parameters that are shared with keys that are kept. The softmax gives every key some weight, so by this count it keeps all 256, and its recall of 1.00 says nothing; precision or the number of kept keys must stand beside it, and the answers that come out. The gradient of the penalty in the scores, which is zero but for rounding, would have shown the first (or: the gradient at the scores of missed keys, the second; precision, 3 of 256, the third).
#
# *Rubric, 4 points:* the L1 norm of weights that sum to one is a constant; gates, or another normaliser (1); a key without weight gets no gradient; a soft beginning, or shared parameters (1); a recall of 1 is had by keeping everything; precision or the number of kept keys beside it (1); a measurement or test that would really show one of the three (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about zeros, gates or sinks that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. The cell below makes haystacks in which it is known what matters. Take a question of your own, or one of these: what happens to recall and precision of sparsemax and of top-3 when the scores are multiplied by a factor? How does the sum of a row with a sink change with the number of useless keys?
#
# *Deliverable:* a figure or a table from the second code cell below, and after the colon your question, what you expected, what came out, and what that does not show.


# %%
def haystack(n, seed, queries=50, noise=0.6):
    """Scores and needles (1, queries, n): each query looks for one of 32 marks, three keys have it."""
    random = torch.Generator().manual_seed(seed)
    marks = F.normalize(torch.randn(32, 16, generator=random), dim=1)
    needles = torch.rand(1, queries, n, generator=random).argsort(dim=2) < 3
    other = torch.randint(1, 32, (1, queries, n), generator=random)  # 0 is what is looked for
    keys = marks[other.masked_fill(needles, 0)]
    keys = keys + noise / 4 * torch.randn(keys.shape, generator=random)
    return keys @ marks[0], needles


# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("scores times   sparsemax: recall, precision, three seeds    top-3: recall")
for factor in (1, 2, 4, 8, 16):
    row, best = [], []
    for seed in range(3):
        scores, needles = haystack(256, seed)
        everything = torch.ones_like(needles)
        kept = sparsemax(factor * scores, everything) > 0
        row.append("{:.2f} {:.2f}".format(*recall_precision(kept, needles)))
        of_best = recall_precision(top_k_mask(factor * scores, 3, everything), needles)
        best.append(f"{of_best[0]:.2f}")
    print(f"{factor:12}   {',   '.join(row):43}  {', '.join(best)}")
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# What do recall and precision of sparsemax do when all scores are multiplied by a factor? I expected it to lose needles and to keep less besides, and top-3, which looks at the order alone, to stay as it is; a recall that stays would have shown me wrong. With all three seeds it came so: recall falls with each doubling, from nearly all needles to about half of them, while precision rises at first and then stays near 1; top-3 has the same recall in each row. So the factor decides how strict sparsemax is, as $k$ does for top-k, and no factor had both near 1 in every seed. It does not show what a trained model would do, which learns its factor with everything else, nor whether the kept needles have equal shares.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
