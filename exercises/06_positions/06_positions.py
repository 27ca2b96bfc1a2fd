# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 6: positions
#
# They belong to chapter 6, *Self-attention and positions* and *Cost and reach*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 waves | 7 | 20 | ★☆☆ | `sinusoids` |
# | Q2 a turn | 9 | 25 | ★★☆ | `turn` |
# | Q3 slopes and penalties | 9 | 20 | ★★☆ | `slopes`, `alibi` |
# | Q4 piece by piece | 10 | 30 | ★★★ | `read_on` |
# | Q5 find the bug | 5 | 10 | ★☆☆ | `distance_bias`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to five sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Places are counted from 0. Shape letters: `b` batch, `h` heads, `n` places, `q` queries, `k` keys, `d` features. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch

# %%
### TOOLS

# %% [markdown]
# ## Q1. Waves
#
# *7 points, 20 minutes, ★☆☆.* Place $p$ has a vector of sines and cosines side by side, ever slower:
#
# $$ P_{p,\,2i} = \sin\!\left(p\, /\, 10000^{2i/d}\right), \qquad P_{p,\,2i+1} = \cos\!\left(p\, /\, 10000^{2i/d}\right). $$
#
# An odd `d` ends with a sine. The first row is the place `offset`. Places may run into the hundred thousands: compute the angles in `torch.float64`.
#
# *Deliverable:* `sinusoids`.


# %%
def sinusoids(n, d, offset=0):
    """Vectors (n, d) of the places from `offset` on."""
    ### BEGIN SOLUTION
    place = torch.arange(offset, offset + n, dtype=torch.float64)
    speed = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = place.unsqueeze(1) * speed  # (n, d / 2, rounded up)
    waves = torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)
    return waves[:, :d].float()
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. A turn
#
# *9 points, 25 minutes, ★★☆.* Rotary positions turn each pair of neighbouring features of a query or a key, `d` even, by an angle $\theta = p / 10000^{2i/d}$ that grows with the place $p$:
#
# $$ \begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} = \begin{pmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{pmatrix} \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}. $$
#
# The first row stands at place `offset`. Gradients must flow, and what comes in stays as it is.
#
# *Deliverable:* `turn`.


# %%
def turn(x, offset=0):
    """Turned heads (b, h, n, d) of heads x (b, h, n, d)."""
    ### BEGIN SOLUTION
    n, d = x.shape[2:]
    place = torch.arange(offset, offset + n, dtype=torch.float64)
    theta = place.unsqueeze(1) / 10000 ** (torch.arange(0, d, 2) / d)  # (n, d / 2)
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=4).flatten(3)
    ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. Slopes and penalties
#
# *9 points, 20 minutes, ★★☆.* ALiBi takes from a score the distance of query and key, times a slope of its own for each head: the bias is $-m_h \lvert i - j \rvert$ for a query at place $i$ and a key at place $j$. Query 0 stands at place `offset`, key 0 at place 0.
#
# With `h` heads, `h` a power of two, the slopes are $2^{-8/h}, 2^{-16/h}, \dots, 2^{-8}$. For any other `h` the authors take all slopes of the power of two **below**, and then, of the list for **twice** that power, the first, the third, the fifth and so on, until there are enough. Six heads: the four slopes of 4 heads, then the first and the third of the eight slopes of 8 heads.
#
# *Deliverable:* `slopes` and `alibi`.


# %%
def slopes(h):
    """Slopes (h,), in the order of the text."""
    ### BEGIN SOLUTION
    below = 1
    while 2 * below <= h:
        below *= 2
    first = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    more = [2 ** (-8 * i / (2 * below)) for i in range(1, 2 * below, 2)]
    return torch.tensor(first + more[: h - below])
    ### END SOLUTION


def alibi(h, q, k, offset=0):
    """Bias (h, q, k) for the scores of q queries and k keys."""
    ### BEGIN SOLUTION
    distance = (torch.arange(offset, offset + q).unsqueeze(1) - torch.arange(k)).abs()
    return -slopes(h).reshape(-1, 1, 1) * distance
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. Piece by piece
#
# *10 points, 30 minutes, ★★★.* A decoder reads its text in pieces and keeps the keys and values of what it has read. `read_on` is one head of causal self-attention with rotary positions (call Q2's `turn`, or write it again): it takes the **next** rows of the text, one or several, and the cache of all rows before. Queries, keys and values are `x @ W_q`, `x @ W_k` and `x @ W_v`; queries and keys are turned, values are not. Scores are scaled dot products; a row reads itself and every row before it, in the cache or in the piece.
#
# The law: **however the text is cut into pieces, the outputs are those of reading it in one piece.** At the start the cache is `None`. Later it is what the last call returned, a tuple of tensors; what is in it is up to you. A cache that came in stays as it is, since somebody may go back to it. Gradients must flow from the output to `x` and the matrices.
#
# *Deliverable:* `read_on`.


# %%
def read_on(x, W_q, W_k, W_v, cache=None):
    """Output (b, n, d) of the next rows x (b, n, d), and the new cache; W_q, W_k, W_v (d, d)."""
    ### BEGIN SOLUTION
    seen = 0 if cache is None else cache[0].shape[1]
    asked = turn((x @ W_q).unsqueeze(1), seen).squeeze(1)  # (b, n, d)
    fresh = turn((x @ W_k).unsqueeze(1), seen).squeeze(1)
    known, kept = fresh, x @ W_v
    if cache is not None:
        known, kept = torch.cat((cache[0], known), dim=1), torch.cat((cache[1], kept), dim=1)
    fit = asked @ known.mT / x.shape[2] ** 0.5  # (b, n, seen + n)
    past = torch.ones(fit.shape[1:], dtype=torch.bool).tril(seen)
    return fit.masked_fill(~past, -torch.inf).softmax(dim=2) @ kept, (known, kept)
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★☆☆.* Another way to tell distances: a **learned** bias for each. `table` (h, 2 r + 1) has a column for every signed distance from $-r$ to $r$: column $c$ belongs to keys that stand $c - r$ places **after** the query (before it, if that is negative). Keys further away than $r$ share the column of $r$ or $-r$. The first query stands at place `offset`, the first key at place 0. Gradients must flow to the table. Somebody wrote it, and **one line is wrong**. Shapes don't show it, and nothing is raised. Find it, mend it, and remove the line that raises.
#
# *Deliverable:* `distance_bias`, with one line changed.


# %%
def distance_bias(table, q, k, offset=0):
    """Bias (h, q, k) from a table (h, 2 r + 1)."""
    ### BEGIN SOLUTION
    r = table.shape[1] // 2
    after = torch.arange(k) - torch.arange(offset, offset + q).unsqueeze(1)  # (q, k)
    column = after.clamp(-r, r) + r
    return table[:, column]
    ### END SOLUTION
    ### BEGIN RELEASED
    #| raise NotImplementedError  # remove this line when you have mended the function
    #| r = table.shape[1] // 2
    #| after = torch.arange(k) - torch.arange(offset, offset + q).unsqueeze(1)  # (q, k)
    #| column = after.clamp(-r, r)
    #| return table[:, column]
    ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* A model with sinusoids was trained on texts of 512 tokens and is to read 8,000. One colleague says that this is fine, since "a sine has no end". Another wants to train it anew with rotary positions, since "then only the distance counts". What is right and what is wrong in each sentence? Which experiment, without any training, would show whether unknown distances are to blame in the second model? What would you propose?
#
# *Deliverable:* three to five sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# Sinusoids are defined at every place, but the network has never seen the vectors of places past 512, so nothing says what it makes of them. With rotary positions the scores do not change when the whole text moves, but distances above 511 are as unseen as places were: depending on the distance alone is no promise for new distances. Give the rotary model a mask that lets no query look further back than 511 places; if its perplexity is good again, the unknown distances were to blame. I would read the long texts with such a window or with ALiBi, knowing that what is far back is then out of reach, or train on longer texts.
#
# *Rubric, 4 points:* defined is not learned, for sinusoids (1); rotary is invariant to moves, not to new distances (1); the window of known distances, or another intervention on distances alone (1); a proposal with its price (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about sinusoids, turns or biases that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: do rotary positions prefer near keys by themselves? At which distance does ALiBi leave a key no weight to speak of?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("distance  score of equal, of independent query and key")
for distance in (0, 5, 50):
    equal, other = [], []
    for seed in range(3):
        torch.manual_seed(seed)
        q, k = torch.randn(200, 1, 1, 64), torch.randn(200, 1, 1, 64)
        equal.append((turn(q, distance) * turn(q)).sum(dim=3).mean())
        other.append((turn(q, distance) * turn(k)).sum(dim=3).mean())
    print(f"{distance:8}  {sum(equal) / 3:5.1f}  {sum(other) / 3:5.1f}")
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# Do rotary positions by themselves prefer what is near? I expected that a score falls with the distance for any query and key. For a query that equals the key it does, in all rows of the table; for independent ones the mean is near 0 at every distance, so nothing falls there. Each mean is over 200 pairs and three seeds. So the turn lowers what agrees and does not punish distance as such. With learned matrices queries and keys are neither equal nor independent, and this table does not tell what happens then.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
