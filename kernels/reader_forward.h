// Reading: every layer's gates, candidates and states for a group of examples, all in the cache.
#pragma once

#include <type_traits>

#include "reader_context.h"

namespace qrn {
namespace QRN_VARIANT {

template <class T> struct ForwardScratch {
  T *question, *question_product, *question_weight[kGates], *score[kGates], *keep, *take[2], *similarity;
  T* query;           // the layer's input rows; in layer 0 the question stands for all of an example's
  LayerRows<T> rows;  // for all layers in turn, where nothing is saved

  ForwardScratch(const Context<T>& context, bool saving, Carver<T>& carver) {
    const int64_t rows_there = context.plan.most_rows, width = context.width;
    question = carver.take(context.plan.most_examples, width);
    question_product = carver.take(context.plan.most_examples, width);
    for (T*& piece : question_weight) piece = carver.take(width);
    for (T*& piece : score) piece = carver.take(padded<T>(rows_there));
    keep = carver.take(padded<T>(rows_there));
    for (T*& piece : take) piece = carver.take(padded<T>(rows_there));
    similarity = carver.take(context.call.vector ? rows_there : 0, width);
    query = carver.take(context.call.layers > 1 ? rows_there : 0, width);
    if (saving) return;
    rows.candidate = carver.take(rows_there, width);
    for (T*& piece : rows.gate) piece = carver.take(rows_there, context.gate_row);
  }
};

// A group's examples and rows.
struct Group {
  int64_t first_example, examples, first_row, rows;
  const int32_t* table_row;
  const int64_t* offset;
  Group(const Plan& plan, int64_t group)
      : first_example(plan.group[group]), examples(plan.group[group + 1] - first_example),
        first_row(plan.offset[first_example]),
        rows(plan.offset[first_example + examples] - first_row),
        table_row(plan.row_table + first_row), offset(plan.offset + first_example) {}
  int64_t start(int64_t example) const { return offset[example] - first_row; }
  int64_t length(int64_t example) const { return offset[example + 1] - offset[example]; }
};

// candidate = tanh(candidate or base + product of the row's sentence); base is one row for all, or null.
template <class T>
void finish_candidates(int64_t rows, int64_t width, const T* base, const T* product, const int32_t* table_row, T* candidate) {
  for (int64_t t = 0; t < rows; ++t, candidate += width) {
    const T* const from = base != nullptr ? base : candidate;
    const T* const sentence = product + table_row[t] * width;
    for (int64_t i = 0; i < width; i += kLanes<T>)
      store<T>(candidate + i, tanh<T>(load(from + i) + load(sentence + i)));
  }
}

// score[g][t] = sum over i of weight[g][i] x[t][i] (q[t][i] if there is one).
template <class T, int Gates, bool HasQuery>
void score_rows(int64_t rows, int64_t width, const T* table, const int32_t* table_row, const T* q,
                const T* const* weight, const T* bias, T* const* score) {
  for (int64_t t = 0; t < rows; ++t) {
    const T* const x = table + table_row[t] * width;
    Vec<T> sum[Gates] = {};
    for (int64_t i = 0; i < width; i += kLanes<T>) {
      Vec<T> similarity = load(x + i);
      if (HasQuery) similarity *= load(q + t * width + i);
#pragma GCC unroll 3
      for (int g = 0; g < Gates; ++g) sum[g] += similarity * load(weight[g] + i);
    }
#pragma GCC unroll 3
    for (int g = 0; g < Gates; ++g) score[g][t] = sum_lanes(sum[g]) + bias[g];
  }
}

template <class T> void multiply_rows(int64_t width, const T* table, const int32_t* table_row, int64_t rows, const T* q,
                                      int64_t q_row, T* similarity) {
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t i = 0; i < width; i += kLanes<T>)
      store<T>(similarity + t * width + i, load(table + table_row[t] * width + i) * load(q + t * q_row + i));
}

// Both directions of an example's scan over Vectors columns: reduced_t = forward_t + backward_t. `take` of a direction
// is z times its reset gate, `keep` is 1 - z; with vector gates z and the resets are read per element. On request, the
// forward state before each row is kept, too.
template <class T, bool Vector, int Vectors>
QRN_INLINE void reduce_columns(int64_t rows, int64_t width, const T* candidate, const T* const* gate, bool reset,
                               const T* keep, const T* const* take, T* forward_before, T* reduced) {
  auto step = [&](int64_t t, int direction, int j, Vec<T> state) {
    const int64_t at = t * width + j * kLanes<T>;
    if (Vector) {
      const Vec<T> z = load(gate[0] + at);
      const Vec<T> taken = reset ? z * load(gate[1 + direction] + at) : z;
      return (splat<T>(1) - z) * state + taken * load(candidate + at);
    }
    return splat<T>(keep[t]) * state + splat<T>(take[direction][t]) * load(candidate + at);
  };
  Vec<T> state[Vectors] = {};
  for (int64_t t = 0; t < rows; ++t)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) {
      const int64_t at = t * width + j * kLanes<T>;
      if (forward_before != nullptr) store<T>(forward_before + at, state[j]);
      state[j] = step(t, 0, j, state[j]);
      store<T>(reduced + at, state[j]);
    }
  for (Vec<T>& piece : state) piece = Vec<T>{};
  for (int64_t t = rows - 1; t >= 0; --t)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) {
      T* const to = reduced + t * width + j * kLanes<T>;
      state[j] = step(t, 1, j, state[j]);
      store<T>(to, load(to) + state[j]);
    }
}

// The last layer needs its last state only.
template <class T, bool Vector, int Vectors>
QRN_INLINE void last_state_columns(int64_t rows, int64_t width, const T* candidate, const T* z, const T* share, T* out) {
  Vec<T> state[Vectors] = {};
  for (int64_t t = 0; t < rows; ++t)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) {
      const int64_t at = t * width + j * kLanes<T>;
      if (Vector)
        state[j] = (splat<T>(1) - load(z + at)) * state[j] + load(z + at) * load(candidate + at);
      else
        state[j] += splat<T>(share[t]) * load(candidate + at);
    }
  for (int j = 0; j < Vectors; ++j) store<T>(out + j * kLanes<T>, state[j]);
}

// Calls body(column, number of vectors as a constant) over all columns of a row, at most this many vectors at a time.
template <class T, int Most = 4, class Body> QRN_INLINE void for_columns(int64_t width, Body body) {
  static_assert(Most == 2 || Most == 4, "the rest is at most three vectors");
  int64_t i = 0;
  for (; i + Most * kLanes<T> <= width; i += Most * kLanes<T>) body(i, std::integral_constant<int, Most>{});
  switch ((width - i) / kLanes<T>) {
    case 1: body(i, std::integral_constant<int, 1>{}); break;
    case 2: body(i, std::integral_constant<int, 2>{}); break;
    case 3: body(i, std::integral_constant<int, 3>{}); break;
  }
}

// share_t = z_t times the product of 1 - z_j over the later j: what of candidate t is left in the last state.
template <class T> void last_shares(int64_t rows, const T* z, T* share) {
  T left = T(1);
  for (int64_t t = rows - 1; t >= 0; --t) {
    share[t] = z[t] * left;
    left *= T(1) - z[t];
  }
}

template <class T> void score_gates(const Context<T>& context, const Group& group, int64_t layer, int64_t restart,
                                    const UnitWeights<T>& weights, const LayerRows<T>& rows, ForwardScratch<T>& scratch) {
  const int64_t width = context.width, gates = context.gates(layer);
  const T* const table = context.table(restart);
  if (context.call.vector) {
    for (int64_t e = 0; e < (layer == 0 ? group.examples : 1); ++e) {
      const int64_t start = layer == 0 ? group.start(e) : 0;
      multiply_rows<T>(width, table, group.table_row + start, layer == 0 ? group.length(e) : group.rows,
                       layer == 0 ? scratch.question + e * width : scratch.query, layer == 0 ? 0 : width,
                       scratch.similarity + start * width);
    }
    for (int64_t g = 0; g < gates; ++g) {
      multiply_packed<T>(group.rows, context.d, scratch.similarity, weights.gate_weight[g], rows.gate[g], false);
      for (int64_t t = 0; t < group.rows; ++t)
        for (int64_t i = 0; i < width; i += kLanes<T>) {
          T* const at = rows.gate[g] + t * width + i;
          const Vec<T> gate = logistic<T>(load(at) + load(weights.gate_bias[g] + i));
          store<T>(at, g == 0 ? context.stretch.gate(gate) : gate);
        }
    }
    return;
  }
  T bias[kGates];
  for (int64_t g = 0; g < gates; ++g) bias[g] = weights.gate_bias[g][0];
  if (layer == 0) {
    for (int64_t e = 0; e < group.examples; ++e) {
      // The query is the same for all rows: multiply it into the weights once.
      const T* const question = scratch.question + e * width;
      const T* weight[kGates];
      T* score[kGates];
      for (int64_t g = 0; g < gates; ++g) {
        T* const product = scratch.question_weight[g];
        for (int64_t i = 0; i < width; i += kLanes<T>)
          store<T>(product + i, load(weights.gate_weight[g] + i) * load(question + i));
        weight[g] = product;
        score[g] = scratch.score[g] + group.start(e);
      }
      const auto body = gates == 1 ? score_rows<T, 1, false> : score_rows<T, kGates, false>;
      body(group.length(e), width, table, group.table_row + group.start(e), nullptr, weight, bias, score);
    }
  } else {
    const auto body = gates == 1 ? score_rows<T, 1, true> : score_rows<T, kGates, true>;
    body(group.rows, width, table, group.table_row, scratch.query, weights.gate_weight, bias, scratch.score);
  }
  for (int64_t g = 0; g < gates; ++g) {
    logistic_in_place<T>(scratch.score[g], group.rows);
    for (int64_t t = 0; g == 0 && t < group.rows; t += kLanes<T>)
      store<T>(scratch.score[g] + t, context.stretch.gate(load(scratch.score[g] + t)));
    std::memcpy(rows.gate[g], scratch.score[g], size_t(group.rows) * sizeof(T));
  }
}

// keep = 1 - z and take = z times reset, for scalar gates.
template <class T>
void spread_gates(int64_t rows, int64_t gates, const T* const* gate, T* keep, T* const* take) {
  for (int64_t t = 0; t < rows; ++t) {
    const T z = gate[0][t];
    keep[t] = T(1) - z;
    take[0][t] = gates == kGates ? z * gate[1][t] : z;
    take[1][t] = gates == kGates ? z * gate[2][t] : z;
  }
}

// Equations 3, 6 and 4 for all examples of a group: the layer's reduced queries.
template <class T>
void reduce_group(const Context<T>& context, const Group& group, int64_t layer, const LayerRows<T>& rows, T* keep,
                  T* const* take, T* forward_before, T* reduced) {
  const int64_t width = context.width;
  const bool reset = context.gates(layer) == kGates;
  if (!context.call.vector) spread_gates<T>(group.rows, context.gates(layer), rows.gate, keep, take);
  for (int64_t e = 0; e < group.examples; ++e)
    for_columns<T>(width, [&](int64_t i, auto vectors) {
      constexpr int kVectors = decltype(vectors)::value;
      const int64_t start = group.start(e), at = start * width + i;
      T* const before = forward_before == nullptr ? nullptr : forward_before + at;
      if (context.call.vector) {
        const T* const gate[kGates] = {rows.gate[0] + at, rows.gate[1] + at, rows.gate[2] + at};
        reduce_columns<T, true, kVectors>(group.length(e), width, rows.candidate + at, gate, reset, nullptr, nullptr,
                                          before, reduced + at);
      } else {
        const T* const taken[2] = {take[0] + start, take[1] + start};
        reduce_columns<T, false, kVectors>(group.length(e), width, rows.candidate + at, nullptr, reset, keep + start,
                                           taken, before, reduced + at);
      }
    });
}

// What the gradient needs is kept in `saved`, unless that is null.
template <class T>
void read_group(const Context<T>& context, int64_t restart, int64_t number, const Saved<T>* saved, T* memory) {
  const Group group(context.plan, number);
  const ReaderCall& call = context.call;
  const int64_t width = context.width, d = context.d;
  Carver<T> carver{memory};
  ForwardScratch<T> scratch(context, saved != nullptr, carver);
  T* const out = static_cast<T*>(call.out.start) + restart * call.out.stride + group.first_example * d;
  for (int64_t e = 0; e < group.examples; ++e)
    context.copy_row(Context<T>::stacked(call.query, restart) + (group.first_example + e) * d, scratch.question + e * width);
  for (int64_t layer = 0; layer < call.layers && !stopped(call.stop); ++layer) {
    const LayerRows<T> rows = saved ? saved->layer(layer, group.first_row) : scratch.rows;
    const UnitWeights<T> weights = context.weights(restart, context.own_layer(layer));
    // Equation 2: the query's part of the candidate, then the sentence's part and tanh.
    if (layer == 0) {
      multiply_packed<T>(group.examples, d, scratch.question, weights.candidate_query, scratch.question_product, false);
      for (int64_t e = 0; e < group.examples; ++e)
        finish_candidates<T>(group.length(e), width, scratch.question_product + e * width, weights.sentence_product,
                             group.table_row + group.start(e), rows.candidate + group.start(e) * width);
    } else {
      for (int64_t from = 0; from < group.rows && !stopped(call.stop); from += kRowsAtOnce) {
        const int64_t count = rows_at_once(group.rows - from), at = from * width;
        multiply_packed<T>(count, d, scratch.query + at, weights.candidate_query, rows.candidate + at, false);
        finish_candidates<T>(count, width, nullptr, weights.sentence_product, group.table_row + from, rows.candidate + at);
      }
    }
    // Equations 1 and 5.
    score_gates<T>(context, group, layer, restart, weights, rows, scratch);
    if (layer + 1 < call.layers) {
      if (rows.reduced != nullptr) scratch.query = rows.reduced;
      reduce_group<T>(context, group, layer, rows, scratch.keep, scratch.take, rows.before, scratch.query);
    } else {
      for (int64_t e = 0; e < group.examples; ++e) {
        const int64_t start = group.start(e);
        T* const state = scratch.question_product + e * width;
        if (!call.vector) last_shares<T>(group.length(e), rows.gate[0] + start, scratch.keep + start);
        for_columns<T>(width, [&](int64_t i, auto vectors) {
          const T* const candidate = rows.candidate + start * width + i;
          if (call.vector)
            last_state_columns<T, true, decltype(vectors)::value>(group.length(e), width, candidate, rows.gate[0] + start * width + i,
                                                   nullptr, state + i);
          else
            last_state_columns<T, false, decltype(vectors)::value>(group.length(e), width, candidate, nullptr, scratch.keep + start, state + i);
        });
        for (int64_t i = 0; i < d; ++i) out[e * d + i] = state[i];
      }
    }
  }
}

// The sentences' part of all candidates, for used table rows [from, to).
template <class T> void sentence_products(const Context<T>& context, int64_t restart, int64_t from, int64_t to) {
  context.copy_table(restart, from, to);
  const T* const rows = context.table(restart) + from * context.width;
  for (int64_t index = 0; index < context.own; ++index) {
    const UnitWeights<T> weights = context.weights(restart, index);
    T* const result = weights.sentence_product + from * context.width;
    const T* const bias = Context<T>::stacked(context.call.candidate_bias, restart) + index * context.d;
    for (int64_t u = 0; u < to - from; ++u) context.copy_row(bias, result + u * context.width);
    multiply_packed<T>(to - from, context.d, rows, weights.candidate_sentence, result, true);
  }
}

QRN_INLINE int64_t table_blocks(const Plan& plan) { return (plan.used + kTableRows - 1) / kTableRows; }
QRN_INLINE int64_t block_end(const Plan& plan, int64_t block) {
  return (block + 1) * kTableRows < plan.used ? (block + 1) * kTableRows : plan.used;
}

template <class T> size_t saved_bytes(const ReaderCall& call, const Plan& plan) {
  Carver<T> counter{nullptr};
  const Context<T> context(call, plan, counter);
  const int64_t numbers = checked_product(call.restarts, Saved<T>::size(context, plan.rows, false));
  return size_t(checked_product(numbers, sizeof(T)));
}

// What reading needs of all restarts, and scratch memory for every thread.
template <class T> struct ForwardWork {
  const Context<T> context;
  const bool saving;
  int64_t scratch_size;
  T* scratch;

  ForwardWork(const ReaderCall& call, const Plan& plan, bool saving, Carver<T>& carver)
      : context(call, plan, carver), saving(saving) {
    Carver<T> counter{nullptr};
    ForwardScratch<T>(context, saving, counter);
    scratch_size = counter.taken;
    scratch = carver.take(call.threads, scratch_size);
  }

  // Everything that reading a group needs.
  void prepare() const {
    const int64_t blocks = table_blocks(context.plan);
    auto pack_one = [&](int64_t restart, int64_t) { context.pack_weights(restart, false); };
    parallel(context.call, context.call.restarts, pack_one);
    auto product_one = [&](int64_t task, int64_t) {
      const int64_t block = task % blocks;
      sentence_products<T>(context, task / blocks, block * kTableRows, block_end(context.plan, block));
    };
    parallel(context.call, context.call.restarts * blocks, product_one);
  }

  void read(int64_t restart, int64_t group, const Saved<T>* saved, int64_t worker) const {
    read_group<T>(context, restart, group, saved, scratch + worker * scratch_size);
  }
};

template <class T> void read_forward(const ReaderCall& all, const Plan& plan, void* saved) {
  share_out(all, [&](int64_t part) {
    const ReaderCall call = part_of<T>(all, part);
    Carver<T> counter{nullptr};
    ForwardWork<T>(call, plan, saved != nullptr, counter);
    const Block block(counter.taken, sizeof(T));
    Carver<T> carver{static_cast<T*>(block.start)};
    const ForwardWork<T> work(call, plan, saved != nullptr, carver);
    work.prepare();
    const int64_t size = Saved<T>::size(work.context, plan.rows, false), first = part == kAll ? 0 : part;
    auto read_one = [&](int64_t task, int64_t worker) {
      const int64_t restart = task / plan.groups;
      const Saved<T> rows(work.context, static_cast<T*>(saved) + (first + restart) * size, 0, plan.rows, false);
      work.read(restart, task % plan.groups, saved == nullptr ? nullptr : &rows, worker);
    };
    parallel(call, call.restarts * plan.groups, read_one);
  });
}

}  // namespace QRN_VARIANT
}  // namespace qrn
