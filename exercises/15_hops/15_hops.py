# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 15: questions and hops
#
# They belong to the chapter *Questions and hops*. You need Python with torch, here or on Colab, and about 120 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 one look at a story | 12 | 25 | ★★☆ | `sentence`, `ages`, `hop` |
# | Q2 right for the right reason | 11 | 25 | ★★☆ | `found`, `in_order` |
# | Q3 look up before you read | 12 | 25 | ★★☆ | `bm25`, `recall_at` |
# | Q4 find the bug | 5 | 15 | ★★★ | `hops`, mended |
# | Q5 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q6 an experiment | 4, by hand | 20 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` stories, `n` facts of a story, `w` words of a fact, `d` features, `h` hops, `s` supporting facts, `p` passages, `v` words of a vocabulary. In a mask **True means that there is a fact**; the facts of a story stand before its padding. What stands at a masked place may be any finite number and has no effect. No argument may be changed.
#
# Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
from itertools import pairwise

import torch
from torch.nn import functional as F

# %%
### TOOLS

# %% [markdown]
# ## Q1. One look at a story
#
# *12 points, 25 minutes, ★★☆.* The parts of one hop of a memory network.
#
# - `sentence` turns the words of each fact into one vector: the sum of their embeddings, each weighted feature by feature with $l_{jk} = (1 - j/J) - (k/d)(1 - 2j/J)$. Here $j$ is the place of the word and $k$ that of the feature, both counted from 1, and $J$ is the number of words of *this* fact. The id 0 is padding. It stands after a fact's words and adds nothing, whatever its embedding is. A fact without words has the vector 0.
# - `ages` gives each fact the number of facts of its story that come after it. The last fact has the age 0. What stands at padding is 0.
# - `hop` scores the facts by the dot product of the state `u` and their keys, and takes a softmax over the facts that are there. It gives the new state, which is `u` plus the weighted sum of the values, and the weights. Padding has the weight 0. In a story without facts the state stays as it is. Scores may be in the hundreds.
#
# *Deliverable:* the three functions.


# %%
def sentence(ids, table):
    """Vectors (b, n, d) of ids (b, n, w) and embeddings (v, d)."""
    ### BEGIN SOLUTION
    w, d = ids.shape[2], table.shape[1]
    there = ids > 0
    j = torch.arange(1, w + 1) / there.sum(dim=2, keepdim=True).clamp(min=1)  # (b, n, w)
    k = torch.arange(1, d + 1) / d
    weights = (1 - j)[..., None] - k * (1 - 2 * j)[..., None]
    return (table[ids] * weights * there[..., None]).sum(dim=2)
    ### END SOLUTION


def ages(mask):
    """Ages (b, n) of facts, from a boolean (b, n)."""
    ### BEGIN SOLUTION
    later = mask.sum(dim=1, keepdim=True) - torch.arange(1, mask.shape[1] + 1)
    return later * mask
    ### END SOLUTION


def hop(u, keys, values, mask):
    """The new state (b, d) and weights (b, n) of u (b, d), keys and values (b, n, d), a mask (b, n)."""
    ### BEGIN SOLUTION
    scores = torch.einsum("bd,bnd->bn", u, keys)
    some = mask.any(dim=1, keepdim=True)
    weights = scores.masked_fill(~mask & some, -torch.inf).softmax(dim=1) * some
    read = torch.einsum("bn,bnd->bd", weights, values)
    return u + read, weights
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Right for the right reason
#
# *11 points, 25 minutes, ★★☆.* A hop **reads** the fact on which it puts the most weight; no two weights of a hop are equal. `support` has the places of the facts that give the answer, in the order in which one looks for them. Where a story has fewer, −1 stands in the last columns.
#
# - `found` is the share of all supporting facts of all stories that some hop reads. A story with two of them counts twice.
# - `in_order` is the share of stories whose supporting facts are read one after the other in their order. Other facts may be read before, between and after them. Stories without supporting facts are not counted. There is always a story that has one.
#
# *Deliverable:* the two functions; each gives a number.


# %%
def found(weights, support):
    """A number, of weights (b, h, n) and places (b, s)."""
    ### BEGIN SOLUTION
    reads = weights.argmax(dim=2)  # (b, h)
    hits = (support[:, :, None] == reads[:, None]).any(dim=2)  # (b, s)
    there = support >= 0
    share = (hits & there).sum() / there.sum()
    return share
    ### END SOLUTION


def in_order(weights, support):
    """A number from 0 to 1, of weights (b, h, n) and places (b, s)."""
    ### BEGIN SOLUTION
    right = counted = 0
    for reads, places in zip(weights.argmax(dim=2).tolist(), support.tolist(), strict=True):
        wanted = [place for place in places if place >= 0]
        if not wanted:
            continue
        counted += 1
        for place in reads:
            if wanted and place == wanted[0]:
                wanted.pop(0)
        right += not wanted
    return right / counted
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Look up before you read
#
# *12 points, 25 minutes, ★★☆.* BM25 scores a passage $P$ for the words of a query, without any training:
#
# $$ \sum_{t} \ln\!\Bigl(1 + \frac{p - p_t + 0.5}{p_t + 0.5}\Bigr) \cdot \frac{f_t\, (k_1 + 1)}{f_t + k_1 \bigl(1 - \beta + \beta\, |P| / \bar P\bigr)}. $$
#
# There are $p$ passages, $p_t$ of them have the word $t$, and $f_t$ says how often it stands in $P$. $|P|$ is the number of words of $P$, and $\bar P$ the mean of these over all passages. A word counts once, however often the query has it. A passage without any word of the query has the score 0, also if it is empty and $\beta = 1$.
#
# - `bm25` gives the scores of all passages.
# - `recall_at` is the share of queries whose right passage is among the `k` best. Of passages with equal scores the one that stands first is better. `k` may be larger than the number of passages.
#
# *Deliverable:* the two functions; `recall_at` gives a number.


# %%
def bm25(counts, query, k1, beta):
    """Scores (p,) of counts (p, v), of a list of word numbers, and of two numbers."""
    ### BEGIN SOLUTION
    words = sorted(set(query))
    f = counts[:, words].double()  # (p, words)
    p, has = len(counts), (counts[:, words] > 0).sum(dim=0)
    rare = (1 + (p - has + 0.5) / (has + 0.5)).log()
    size = counts.sum(dim=1, keepdim=True).double()
    below = f + k1 * (1 - beta + beta * size / size.mean())
    part = f * (k1 + 1) / below.clamp(min=1e-9)
    return (rare * part).sum(dim=1)
    ### END SOLUTION


def recall_at(scores, gold, k):
    """A number from 0 to 1, of scores (queries, p), right passages (queries,) and a number."""
    ### BEGIN SOLUTION
    order = scores.argsort(dim=1, descending=True, stable=True)[:, :k]
    return (order == gold[:, None]).any(dim=1).double().mean()
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Find the bug
#
# *5 points, 15 minutes, ★★★.* `hops` looks at a story once for each pair of neighbours in `memory`: the first tensor of a pair holds the keys, the second the values, and the values of one hop are the keys of the next. The state begins as the question, and each hop adds what it read. It gives the last state and the weights of all hops. With one hop the function is right. With more it is not, although all shapes are, all weights sum to one, and nothing is raised. **One line is wrong.** Mend it, and remove the line that raises.
#
# *Deliverable:* `hops`, with one line changed.


# %%
def hops(question, memory, mask):
    """The state (b, d) and weights (b, h, n) of a question (b, d), h + 1 tensors (b, n, d), a mask (b, n)."""
    ### BEGIN SOLUTION
    u, all_weights = question, []
    for keys, values in pairwise(memory):
        scores = (keys * u[:, None]).sum(dim=2)
        weights = scores.masked_fill(~mask, -1e9).softmax(dim=1)
        read = (weights[:, :, None] * values).sum(dim=1)
        u = u + read
        all_weights.append(weights)
    return u, torch.stack(all_weights, dim=1)
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| u, all_weights = question, []
    #| for keys, values in pairwise(memory):
    #|     scores = (keys * u[:, None]).sum(dim=2)
    #|     weights = scores.masked_fill(~mask, -1e9).softmax(dim=1)
    #|     read = (weights[:, :, None] * values).sum(dim=1)
    #|     u = question + read
    #|     all_weights.append(weights)
    #| return u, torch.stack(all_weights, dim=1)
    ### END RELEASED


# %%
### CHECK q4

# %% [markdown]
# ## Q5. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports: "Our reader with two hops answers 43 of 100 questions of two facts. One hop gets 42, so a second hop is of no use for this task. Where it is right it has found the facts, since it knows the answer. And our retrieval is perfect: among the ten passages that it hands over the right one is always there, so whatever goes wrong later is the reader's fault." What is wrong with each of the three, and what would you measure instead?
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q5:**
#
# ### BEGIN SOLUTION
# That two hops stall says how they were trained, not what they can do: train again with several seeds, and with questions in between that ask for one fact alone, and they may answer nearly all. A right answer is no sign that the facts were read, since one place in six is right by chance and the last place named more often; compare what each hop reads with the supporting facts. Recall among ten says that the right passage is there, and not that it is easily told from the other nine: look at the recall of fewer, and at the reader's accuracy with the right passage alone beside that with ten.
#
# *Rubric, 4 points:* a training that stalls is no limit of the model (1), with a remedy or several seeds (half of it); a right answer is no right reading, and what to compare with (1); recall at ten is a ceiling, and the others of the ten can mislead (1); a measurement for the last, such as the right passage alone (1).
# ### END SOLUTION

# %% [markdown]
# ## Q6. An experiment of your own
#
# *4 points, 20 minutes, ★★☆.* Ask a question about hops, ages or retrieval that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. `passages` makes passages of common and rare words, and queries of four words of one of them.
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.


# %%
def passages(p, seed, words=300, length=30, queries=100):
    """Given: counts (p, words), queries as lists of word numbers, and their right passages."""
    random = torch.Generator().manual_seed(seed)
    often = 1 / torch.arange(1.0, words + 1)  # a few words are common, most are rare
    drawn = often.expand(p, -1).multinomial(length, replacement=True, generator=random)
    gold = torch.randint(p, (queries,), generator=random)
    asked = [drawn[g][torch.randperm(length, generator=random)[:4]].tolist() for g in gold]
    return F.one_hot(drawn, words).sum(dim=1), asked, gold


# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("passages   all weights, three seeds   rare words as common ones")
for p in (50, 200, 800):
    row = []
    for flat in (False, True):
        recalls = []
        for seed in range(3):
            counts, asked, gold = passages(p, seed)
            if flat:  # the share of common words alone: how many words of the query it has
                scores = torch.stack([(counts[:, sorted(set(q))] > 0).sum(dim=1) for q in asked])
            else:
                scores = torch.stack([bm25(counts, q, 1.2, 0.75) for q in asked])
            recalls.append(f"{float(recall_at(scores, gold, 1)):.2f}")
        row.append(" ".join(recalls))
    print(f"{p:8}   {row[0]:26} {row[1]}")
### END SOLUTION

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Does it help that BM25 weighs rare words more, and does that depend on the number of passages? I expected it to help, and more so with more passages, where many have all common words of a query. Equal columns would have shown me wrong. In each of the three seeds and at each size the first column is higher. The passages have no grammar and no topics, so it does not say how much the weights are worth on real text, and a hundred queries leave some hundredths to chance.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
