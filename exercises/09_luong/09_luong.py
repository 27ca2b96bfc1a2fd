# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # Exercises 9: Luong attention
#
# They belong to the chapter *Luong attention: global and local*. You need Python with torch, here or on Colab, and about 130 minutes.
#
# | question | points | minutes | difficulty | deliverable |
# |---|---|---|---|---|
# | Q1 three scores | 9 | 20 | ★★☆ | `score` |
# | Q2 step first, then look | 14 | 30 | ★★★ | `LuongStep` |
# | Q3 a window with two ends | 10 | 20 | ★★☆ | `window`, `scored_pairs` |
# | Q4 a predicted centre and its bell | 12 | 25 | ★★★ | `predict`, `local_weights` |
# | Q5 find the bug | 5 | 10 | ★★☆ | `PredictiveAttention`, mended |
# | Q6 a written question | 4, by hand | 10 | ★★☆ | three to six sentences |
# | Q7 an experiment | 4, by hand | 15 | ★★☆ | a figure or a table, and what it shows |
#
# Shape letters: `b` sentences, `q` target steps, `k` source tokens, `d` features of a decoder state, `e` features of an encoder state, `v` words of the target vocabulary. Places are counted from 0. Write your answers where it says so and keep the names. After each question stands a self-check. It says what is probably wrong; passing it is necessary, not sufficient: grading uses more tests and other numbers. Hand in this notebook.

# %%
STUDENT = "your name or number"  # it chooses the numbers of your self-checks

# %%
import torch
from torch import nn

# %%
### TOOLS

# %% [markdown]
# ## Q1. Three scores
#
# *9 points, 20 minutes, ★★☆.* Luong et al. compare three scores of a decoder state $\mathbf{s}_t$ and an encoder state $\mathbf{h}_j$. Write them as one function; `how` is `"dot"`, `"general"` or `"concat"`:
#
# $$ \mathbf{s}_t^\top \mathbf{h}_j, \qquad \mathbf{s}_t^\top \mathbf{W}\, \mathbf{h}_j, \qquad \mathbf{w}^\top \tanh(\mathbf{W}\, [\mathbf{s}_t; \mathbf{h}_j]). $$
#
# With *dot* both states have $d$ features; otherwise their sizes may differ. `W` is `(d, e)` for *general* and `(a, d + e)` for *concat*, with any number $a$ of hidden features; `w` is `(a,)`. Gradients flow to both states, `W` and `w`.
#
# *Deliverable:* `score`.


# %%
def score(s, h, how, W=None, w=None):
    """Scores (b, q, k) of decoder states s (b, q, d) for encoder states h (b, k, e)."""
    ### BEGIN SOLUTION
    if how == "dot":
        return s @ h.mT  # (b, q, d) @ (b, d, k)
    if how == "general":
        return s @ W @ h.mT  # (b, q, d) @ (d, e) @ (b, e, k)
    states = s.unsqueeze(2).expand(-1, -1, h.shape[1], -1)  # (b, q, k, d)
    tokens = h.unsqueeze(1).expand(-1, s.shape[1], -1, -1)  # (b, q, k, e)
    hidden = (torch.cat((states, tokens), dim=3) @ W.T).tanh()  # (b, q, k, a)
    return hidden @ w
    ### END SOLUTION


# %%
### CHECK q1

# %% [markdown]
# ## Q2. Step first, then look
#
# *14 points, 30 minutes, ★★★.* Bahdanau's decoder looks at the source and then steps. Luong's does it the other way round:
#
# 1. new state: a `nn.GRUCell` reads the token's embedding. With input feeding (`feed`) it reads the token's embedding and then the last attentional vector, joined in this order;
# 2. scores: the **new** state is the query, with *dot* of Q1;
# 3. weights: a softmax over the `lengths[i]` valid tokens of each source, exactly 0 at padding. Each source has at least one token;
# 4. context: the memory (the encoder's states), weighted;
# 5. attentional vector: the tanh of a linear layer **without bias** that reads the context and then the new state, joined in this order;
# 6. logits: a linear layer with bias reads the attentional vector, and nothing else.
#
# Padding of the memory may hold anything finite. Without `feed` the vector that comes in is not used. Gradients of the logits flow to the state, to the memory and, with `feed`, to the vector. The parts with parameters are called `embedding`, `cell`, `join` and `output`; there are no others.
#
# *Deliverable:* `LuongStep`.


# %%
class LuongStep(nn.Module):
    """Logits (b, v), state (b, d), vector (b, d) and weights (b, k) after one more target token."""

    def __init__(self, v, embed, d, feed):
        super().__init__()
        ### BEGIN SOLUTION
        self.feed = feed
        self.embedding = nn.Embedding(v, embed)
        self.cell = nn.GRUCell(embed + d if feed else embed, d)
        self.join = nn.Linear(2 * d, d, bias=False)
        self.output = nn.Linear(d, v)
        ### END SOLUTION

    def forward(self, tokens, state, vector, memory, lengths):
        """Tokens (b,), state (b, d), the last vector (b, d), memory (b, k, d), lengths (b,)."""
        ### BEGIN SOLUTION
        x = self.embedding(tokens)
        if self.feed:
            x = torch.cat((x, vector), dim=1)  # (b, embed + d)
        state = self.cell(x, state)
        scores = score(state.unsqueeze(1), memory, "dot").squeeze(1)  # (b, k)
        valid = torch.arange(memory.shape[1]) < lengths.unsqueeze(1)
        weights = scores.masked_fill(~valid, -torch.inf).softmax(dim=1)
        context = (weights.unsqueeze(1) @ memory).squeeze(1)  # (b, d)
        vector = self.join(torch.cat((context, state), dim=1)).tanh()
        return self.output(vector), state, vector, weights
        ### END SOLUTION


# %%
### CHECK q2

# %% [markdown]
# ## Q3. A window with two ends
#
# *10 points, 20 minutes, ★★☆.* Local attention with the centre $\mu_t$ and the radius $D$ lets step $t$ attend to the places $j$ with $-D \le j - \mu_t \le D$. `window` gives the mask, in which **True means that a step may attend to a place**. Centres are any numbers, whole or not, also before the first place or behind the last one. Sentence `i` has `lengths[i]` tokens, the rest of its `k` places is padding, to which nothing may attend. What of a window lies beyond an end of the sentence is lost: the window is not moved inward and does not come in again at the other end. So a window may be empty. `radius` is a whole number and may be 0.
#
# In local-m the centre of step $t$ is the place $t$. `scored_pairs` is the number of pairs of a step and a place that are scored then, for `q` steps and one source of `k` tokens, if no place outside the windows is.
#
# *Deliverable:* `window`, and `scored_pairs`, a whole number.


# %%
def window(centres, lengths, k, radius):
    """Boolean mask (b, q, k) of centres (b, q) and lengths (b,)."""
    ### BEGIN SOLUTION
    far = torch.arange(k) - centres.unsqueeze(2)  # (k,) - (b, q, 1) -> (b, q, k)
    near = (-radius <= far) & (far <= radius)
    return near & (torch.arange(k) < lengths[:, None, None])
    ### END SOLUTION


def scored_pairs(q, k, radius):
    """How many pairs local-m scores."""
    ### BEGIN SOLUTION
    pairs = 0
    for t in range(q):
        first, after = max(0, t - radius), min(k, t + radius + 1)
        pairs += max(0, after - first)  # the window may be past the end
    return pairs
    ### END SOLUTION


# %%
### CHECK q3

# %% [markdown]
# ## Q4. A predicted centre and its bell
#
# *12 points, 25 minutes, ★★★.* In local-p the state predicts its centre. With $S$ the length of **its own** sentence,
#
# $$ \mu_t = S \cdot \operatorname{sigmoid}(\mathbf{v}^\top \tanh(\mathbf{W}\, \mathbf{s}_t)). $$
#
# Around the centre there may be a bell, a Gaussian of width $\sigma = D/2$. `local_weights` makes weights of scores, by a softmax over the window of Q3, and knows three ways:
#
# - `bell=None`: the window alone;
# - `bell="weights"`, the paper's: the weights are multiplied by $\exp(-(j - \mu_t)^2 / 2\sigma^2)$ **after** the softmax, and are not divided by their new sum;
# - `bell="scores"`: $-(j - \mu_t)^2 / 2\sigma^2$ is added to the scores **before** the softmax.
#
# Outside the window the weight is exactly 0. A step with an empty window has zeros only; neither its weights nor any gradient may be NaN. Scores may be large. Gradients flow from centres and weights to whatever the formulas make them of.
#
# *Deliverable:* `predict` and `local_weights`.


# %%
def predict(s, lengths, W, v):
    """Centres (b, q) of states s (b, q, d) and lengths (b,); W (a, d), v (a,)."""
    ### BEGIN SOLUTION
    share = ((s @ W.T).tanh() @ v).sigmoid()  # (b, q), from 0 to 1
    return lengths.unsqueeze(1) * share
    ### END SOLUTION


def local_weights(scores, centres, lengths, radius, bell=None):
    """Weights (b, q, k) of scores (b, q, k), centres (b, q) and lengths (b,); radius at least 1."""
    ### BEGIN SOLUTION
    k = scores.shape[2]
    mask = window(centres, lengths, k, radius)  # (b, q, k)
    log_bell = -((torch.arange(k) - centres.unsqueeze(2)) ** 2) / (2 * (radius / 2) ** 2)
    if bell == "scores":
        scores = scores + log_bell
    some = mask.any(dim=2, keepdim=True)  # a softmax over nothing would be NaN
    weights = scores.masked_fill(~mask & some, -torch.inf).softmax(dim=2) * some
    if bell == "weights":
        weights = weights * log_bell.exp()
    return weights
    ### END SOLUTION


# %%
### CHECK q4

# %% [markdown]
# ## Q5. Find the bug
#
# *5 points, 10 minutes, ★★☆.* `PredictiveAttention` is local-p with the bell after the softmax: it predicts the centres, and makes attentional vectors and weights for all steps at once. It learned well, and its maps looked sensible. That a row of weights sums to less than one was no surprise, as the bell is a factor. But a sentence got other weights when it stood in a batch beside a longer one. **One line is wrong**, and nothing is raised. Mended, it gives a sentence the same vectors and weights whoever stands beside it and whatever stands at padding; centres, window and bell stay as they are, and the bell is still a factor. Try it on `PredictiveAttention(8, 2)` once you have removed the line that raises.
#
# *Deliverable:* `PredictiveAttention`, with one line changed.


# %%
class PredictiveAttention(nn.Module):
    """Attentional vectors (b, q, d) and weights (b, q, k) of decoder states (b, q, d)."""

    def __init__(self, d, radius):
        super().__init__()
        self.radius = radius
        self.W_p = nn.Linear(d, d, bias=False)
        self.v_p = nn.Linear(d, 1, bias=False)
        self.W_c = nn.Linear(2 * d, d, bias=False)

    def forward(self, s, memory, lengths):
        ### BEGIN SOLUTION
        places, S = torch.arange(memory.shape[1]), lengths[:, None, None]
        centres = S * self.v_p(self.W_p(s).tanh()).sigmoid()  # (b, q, 1)
        far = places - centres  # (b, q, k)
        bell = (-2 * (far / self.radius) ** 2).exp()
        inside = (far.abs() <= self.radius) & (places < S)
        scores = s @ memory.mT  # (b, q, k)
        weights = scores.masked_fill(~inside, -torch.inf).softmax(dim=2) * bell
        both = torch.cat((weights @ memory, s), dim=2)  # (b, q, 2 d)
        return self.W_c(both).tanh(), weights
        ### END SOLUTION
        ### BEGIN RELEASED
        #| raise NotImplementedError  # remove this line when you have mended the model
        #| places, S = torch.arange(memory.shape[1]), lengths[:, None, None]
        #| centres = S * self.v_p(self.W_p(s).tanh()).sigmoid()  # (b, q, 1)
        #| far = places - centres  # (b, q, k)
        #| bell = (-2 * (far / self.radius) ** 2).exp()
        #| inside = (far.abs() <= self.radius) & (places < S)
        #| scores = s @ memory.mT  # (b, q, k)
        #| weights = scores.softmax(dim=2) * bell * inside
        #| both = torch.cat((weights @ memory, s), dim=2)  # (b, q, 2 d)
        #| return self.W_c(both).tanh(), weights
        ### END RELEASED


# %%
### CHECK q5

# %% [markdown]
# ## Q6. In words
#
# *4 points, 10 minutes, ★★☆.* Somebody reports on a decoder with local-p and input feeding: "A mask keeps 7 places around each predicted centre, so a step scores 7 tokens, however long the source is. I left the bell out: the window holds the centre's neighbourhood anyway, and the centre is learned with the rest. And since the true target is known in training, one call of the recurrent kernel computes the states of all steps, and attention for all steps comes after it." What is wrong with each of the three, and what must be done instead? Name one measurement or test that would have shown one of them.
#
# *Deliverable:* three to six sentences in the cell below, after the colon.

# %% [markdown]
# **Answer Q6:**
#
# ### BEGIN SOLUTION
# The mask is applied to scores that have all been computed, so each step still scores the whole source; to save them, the places near the centre must be cut out before they are scored, which is possible because the centre is known by then. The window only compares: a small move of the centre changes no weight, so no gradient reaches the layers that predict it, and they stay as they were drawn; the bell, as a factor or as a term of the scores, is what makes the centre trainable. With input feeding each step reads the attentional vector of the step before, which needs that step's attention, so the states must be computed in a loop even when the target is known; the one call is right only without feeding. The gradient at the predictor's parameters, which is none or zero without a bell, would have shown the second (or: the time of a step, which grows with the source, the first; hiding the source at one step, which must change the later states, the third).
#
# *Rubric, 4 points:* a mask computes all scores, a slice around the centre does not (1); no gradient passes a comparison, the bell is needed (1); with feeding a step waits for the vector of the step before, so a loop (1); a measurement or test that would really show one of the three (1).
# ### END SOLUTION

# %% [markdown]
# ## Q7. An experiment of your own
#
# *4 points, 15 minutes, ★★☆.* Ask a question about scores, feeding, windows or bells that a run can answer, and answer it with your functions from above. Say beforehand what you expect, and what would show you wrong. Change one thing, keep something beside it to compare with, and repeat with three seeds what depends on chance. Take a question of your own, or one of these: what does the sum of a row of weights with the paper's bell do when the scores grow? Which share of all pairs does local-m score when source and target grow together?
#
# *Deliverable:* a figure or a table from the code cell below, and after the colon your question, what you expected, what came out, and what that does not show.

# %%
### EXPERIMENT: a person reads this cell and its output; grading does not run it
### BEGIN SOLUTION
print("scores times   sum of a row, bell after the softmax   in the scores")
for factor in (0.0, 1.0, 3.0, 10.0):
    row = []
    for bell in ("weights", "scores"):
        sums = []
        for seed in range(3):
            torch.manual_seed(seed)
            scores = factor * torch.randn(1, 500, 21)
            rows = local_weights(scores, torch.full((1, 500), 10.0), torch.tensor([21]), 4, bell)
            sums.append(rows.sum(dim=2))
        sums = torch.cat(sums)
        row.append(f"mean {sums.mean():.2f}, deviation {sums.std():.2f}")
    print(f"{factor:12}  ", "      ".join(row))
### END SOLUTION

# %% [markdown]
# **Answer Q7:**
#
# ### BEGIN SOLUTION
# What does the sum of a row do when the scores grow, with the bell after the softmax and, to compare, in the scores? I expected the mean sum to fall with larger scores, because the best place is rarely at the centre; a mean that stays would show me wrong. It stays: with all three seeds together the mean sum is nearly the same for every factor, and only its spread grows, from none towards that of the bell itself. With the bell in the scores each row sums to one. The best place was equally likely everywhere in the window here; in a trained model, whose centre is meant to be near the best place, the mean may well move.
#
# *Rubric, 4 points:* a question, and an expectation that the run could have refuted (1); one thing changed, something to compare with, and three seeds where there is chance (1); a figure or table that can be read without the text (1); a conclusion that says what was seen and no more, with one limit of it (1).
# ### END SOLUTION
