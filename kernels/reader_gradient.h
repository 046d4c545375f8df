// The gradient of a whole reader call: chunks of groups side by side, then their sums in a fixed order.
#pragma once

#include "reader_backward.h"

namespace qrn {
namespace QRN_VARIANT {

// Rows of a weight matrix whose gradient one task sums.
constexpr int64_t kWeightRows = 32;

// Gradients through the similarity with vector gates. `step` is the distance of query rows: 0 where all are one vector.
template <class T>
void similarity_gradient_vector(const Context<T>& context, int64_t restart, const UnitWeights<T>& weights, int64_t gates,
                                int64_t rows, const int32_t* table_row, const T* q, int64_t step, int64_t first,
                                BackwardScratch<T>& scratch, T* table_sum, T* q_gradient) {
  const int64_t width = context.width, at = first * width;
  const T* const table = context.table(restart);
  T* const similarity_gradient = scratch.similarity_gradient + at;
  multiply_rows<T>(width, table, table_row, rows, q, step, scratch.similarity + at);
  for (int64_t g = 0; g < gates; ++g)
    multiply_packed<T>(rows, context.d, scratch.score_gradient[g] + at, weights.gate_weight[g], similarity_gradient, g > 0);
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t i = 0; i < width; i += kLanes<T>) {
      const int64_t there = table_row[t] * width + i;
      const Vec<T> here = load(similarity_gradient + t * width + i);
      add_to<T>(table_sum + there, here * load(q + t * step + i));
      add_to<T>(q_gradient + t * step + i, here * load(table + there));
    }
}

template <class T> void add_rows(int64_t rows, int64_t width, const T* from, T* sum) {
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t i = 0; i < width; i += kLanes<T>) add_to<T>(sum + i, load(from + t * width + i));
}

// The gradient through a layer's candidates and gates to its input rows, for layers after the first.
template <class T>
void unit_gradient(const Context<T>& context, const Group& group, int64_t restart, int64_t gates,
                   const UnitWeights<T>& weights, BackwardScratch<T>& scratch, const ChunkSums<T>& sums,
                   const typename ChunkSums<T>::Unit& unit) {
  const int64_t width = context.width, d = context.d;
  for (int64_t from = 0; from < group.rows && !stopped(context.call.stop); from += kRowsAtOnce) {
    const int64_t rows = rows_at_once(group.rows - from), at = from * width;
    const int32_t* const table_row = group.table_row + from;
    const T* const gradient = scratch.gradient + at;
    multiply_packed<T>(rows, d, gradient, weights.candidate_query, scratch.next_gradient + at, false);
    multiply_transposed<T>(d, rows, scratch.query + at, gradient, unit.candidate_query);
    if (context.call.vector) {
      similarity_gradient_vector<T>(context, restart, weights, gates, rows, table_row, scratch.query + at, width, from,
                                    scratch, sums.table, scratch.next_gradient + at);
      for (int64_t t = 0; t < rows; ++t)
        add_rows<T>(1, width, gradient + t * width, unit.sentence_product + table_row[t] * width);
    } else {
      const T* score_gradient[kGates];
      for (int g = 0; g < kGates; ++g) score_gradient[g] = scratch.score_gradient[g] + from;
      const auto body = gates == 1 ? similarity_gradient<T, 1> : similarity_gradient<T, kGates>;
      body(rows, width, context.table(restart), table_row, scratch.query + at, weights.gate_weight, gradient,
           score_gradient, sums.table, unit.sentence_product, unit.gate_weight, scratch.next_gradient + at);
    }
  }
}

// The same for layer 0, down to the questions.
template <class T>
void first_unit_gradient(const Context<T>& context, const Group& group, int64_t restart, int64_t gates,
                         const UnitWeights<T>& weights, BackwardScratch<T>& scratch, const ChunkSums<T>& sums,
                         const typename ChunkSums<T>::Unit& unit) {
  const int64_t width = context.width, d = context.d;
  for (int64_t e = 0; e < group.examples; ++e) {
    const int64_t start = group.start(e), length = group.length(e);
    const T* const question = scratch.question + e * width;
    T* const into_question = scratch.question_gradient + e * width;
    T* const into_product = scratch.product_gradient + e * width;
    for (int64_t i = 0; i < width; ++i) into_question[i] = into_product[i] = T(0);
    if (context.call.vector) {
      similarity_gradient_vector<T>(context, restart, weights, gates, length, group.table_row + start, question, 0, start,
                                    scratch, sums.table, into_question);
      for (int64_t t = start; t < start + length; ++t)
        add_rows<T>(1, width, scratch.gradient + t * width, unit.sentence_product + group.table_row[t] * width);
      add_rows<T>(length, width, scratch.gradient + start * width, into_product);
    } else {
      const auto body = gates == 1 ? first_similarity_gradient<T, 1> : first_similarity_gradient<T, kGates>;
      for (int64_t from = start; from < start + length; from += kRowsAtOnce) {
        const T* score_gradient[kGates];
        for (int g = 0; g < kGates; ++g) score_gradient[g] = scratch.score_gradient[g] + from;
        body(rows_at_once(start + length - from), width, context.table(restart), group.table_row + from, question,
             weights.gate_weight, scratch.gradient + from * width, score_gradient, sums.table, unit.sentence_product,
             unit.gate_weight, into_question, into_product);
      }
    }
  }
  multiply_packed<T>(group.examples, d, scratch.product_gradient, weights.candidate_query, scratch.question_gradient, true);
  multiply_transposed<T>(d, group.examples, scratch.question, scratch.product_gradient, unit.candidate_query);
}

// The gradient through a layer's states: scratch.gradient becomes that of the candidates before tanh. Below the last
// layer, reduce_group has just left `keep`, `take` and `forward_before` of this layer in the scratch.
template <class T>
void state_gradient(const Context<T>& context, const Group& group, int64_t layer, const LayerRows<T>& rows, const T* dout,
                    BackwardScratch<T>& scratch) {
  const int64_t width = context.width, gates = context.gates(layer), step = context.gate_row;
  const bool last = layer == context.call.layers - 1, vector = context.call.vector;
  for (int64_t e = 0; e < group.examples; ++e) {
    const int64_t start = group.start(e), length = group.length(e), at = start * width;
    const T* const candidate = rows.candidate + at;
    const T* gate[kGates];
    T* score_gradient[kGates];
    for (int g = 0; g < kGates; ++g) {
      gate[g] = rows.gate[g] + start * step;
      score_gradient[g] = scratch.score_gradient[g] + start * step;
    }
    if (last) {
      context.copy_row(dout + e * context.d, scratch.state);
      if (vector)
        last_layer_gradient_vector<T>(context.stretch, length, width, scratch.state, candidate, gate[0],
                                      score_gradient[0], scratch.gradient + at);
      else
        last_layer_gradient<T>(context.stretch, length, width, scratch.state, candidate, gate[0], score_gradient[0],
                               scratch.keep, scratch.gradient + at);
    } else if (vector) {
      const auto body = gates == 1 ? reduce_gradient_vector<T, 1> : reduce_gradient_vector<T, kGates>;
      body(context.stretch, length, width, candidate, gate, scratch.forward_before + at, scratch.gradient + at,
           scratch.backward_gradient + at, score_gradient);
    } else {
      const T* const take[2] = {scratch.take[0] + start, scratch.take[1] + start};
      const auto body = gates == 1 ? reduce_gradient<T, 1> : reduce_gradient<T, kGates>;
      body(context.stretch, length, width, candidate, gate, scratch.keep + start, take, scratch.forward_before + at, scratch.gradient + at,
           scratch.backward_gradient + at, scratch.row_state, score_gradient);
    }
  }
}

// The states of a layer, as they were saved or by running its scan again; and its `keep` and `take`.
template <class T>
void states_below(const Context<T>& context, const Group& group, int64_t layer, const LayerRows<T>& rows,
                  BackwardScratch<T>& scratch) {
  if (rows.reduced == nullptr)
    return reduce_group<T>(context, group, layer, rows, scratch.keep, scratch.take, scratch.forward_before, scratch.query);
  scratch.forward_before = rows.before;
  scratch.query = rows.reduced;
  if (!context.call.vector) spread_gates<T>(group.rows, context.gates(layer), rows.gate, scratch.keep, scratch.take);
}

template <class T> T sum_of(int64_t count, const T* numbers) {
  Vec<T> sum = {};
  int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) sum += load(numbers + i);
  T total = sum_lanes(sum);
  for (; i < count; ++i) total += numbers[i];
  return total;
}

template <class T>
void group_gradient(const Context<T>& context, const ReaderCall& gradients, int64_t restart, int64_t number,
                    const Saved<T>& saved, const ChunkSums<T>& sums, T* memory) {
  const Group group(context.plan, number);
  const ReaderCall& call = context.call;
  const int64_t width = context.width, d = context.d;
  Carver<T> carver{memory};
  BackwardScratch<T> scratch(context, carver);
  const T* const dout = Context<T>::stacked(gradients.out, restart) + group.first_example * d;
  for (int64_t e = 0; e < group.examples; ++e)
    context.copy_row(Context<T>::stacked(call.query, restart) + (group.first_example + e) * d, scratch.question + e * width);
  for (int64_t layer = call.layers - 1; layer >= 0 && !stopped(call.stop); --layer) {
    const LayerRows<T> rows = saved.layer(layer, group.first_row);
    const UnitWeights<T> weights = context.weights(restart, context.own_layer(layer));
    const typename ChunkSums<T>::Unit unit = sums.unit(context.own_layer(layer));
    const int64_t gates = context.gates(layer);
    state_gradient<T>(context, group, layer, rows, dout, scratch);
    if (layer > 0) {
      states_below<T>(context, group, layer - 1, saved.layer(layer - 1, group.first_row), scratch);
      unit_gradient<T>(context, group, restart, gates, weights, scratch, sums, unit);
    } else {
      first_unit_gradient<T>(context, group, restart, gates, weights, scratch, sums, unit);
    }
    for (int64_t g = 0; g < gates; ++g) {
      if (call.vector) {
        add_rows<T>(group.rows, width, scratch.score_gradient[g], unit.gate_bias[g]);
        multiply_transposed<T>(d, group.rows, scratch.score_gradient[g], scratch.similarity, unit.gate_weight[g]);
      } else {
        unit.gate_bias[g][0] += sum_of<T>(group.rows, scratch.score_gradient[g]);
      }
    }
    T* const other = scratch.gradient;
    scratch.gradient = scratch.next_gradient;
    scratch.next_gradient = other;
  }
  T* const dquery = static_cast<T*>(gradients.query.start) + restart * gradients.query.stride + group.first_example * d;
  for (int64_t e = 0; e < group.examples; ++e)
    for (int64_t i = 0; i < d; ++i) dquery[e * d + i] = scratch.question_gradient[e * width + i];
}

template <class T> void add_all(T* sum, const T* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] += from[i];
}

// Adds pieces of later chunks, `distance` apart, to the first one's.
template <class T> void add_chunks(int64_t chunks, int64_t distance, T* first, int64_t count) {
  for (int64_t c = 1; c < chunks; ++c) add_all<T>(first, first + c * distance, count);
}

// Sentences that no story of the batch names have no gradient.
template <class T> void clear_unused(const Context<T>& context, const ReaderCall& gradients, int64_t restart) {
  T* const out = static_cast<T*>(gradients.table.start) + restart * gradients.table.stride;
  for (int64_t s = 0; context.plan.used < context.call.sentences && s < context.call.sentences; ++s)
    if (context.plan.place[s] < 0) std::memset(out + s * context.d, 0, size_t(context.d) * sizeof(T));
}

// `sums` are those of the first of `chunks` chunks still to be added up, here and in weight_gradient.
// Rows [from, to) of the table's gradient: the gates' part, and the products' part through their weights.
template <class T>
void table_gradient(const Context<T>& context, const ReaderCall& gradients, int64_t restart, const ChunkSums<T>& sums,
                    int64_t chunks, int64_t from, int64_t to) {
  const int64_t width = context.width, count = (to - from) * width;
  T* const rows = sums.table + from * width;
  add_chunks<T>(chunks, sums.size(), rows, count);
  for (int64_t index = 0; index < context.own; ++index) {
    T* const product = sums.unit(index).sentence_product + from * width;
    add_chunks<T>(chunks, sums.size(), product, count);
    multiply_packed<T>(to - from, context.d, product, context.weights(restart, index).candidate_sentence, rows, true);
  }
  T* const out = static_cast<T*>(gradients.table.start) + restart * gradients.table.stride;
  for (int64_t u = from; u < to; ++u)
    for (int64_t i = 0; i < context.d; ++i) out[context.plan.original[u] * context.d + i] = sums.table[u * width + i];
}

// Rows [from, to) of the gradients of one layer's matrices; the call with from = 0 does its vectors too.
template <class T>
void weight_gradient(const Context<T>& context, const ReaderCall& gradients, int64_t restart, int64_t index,
                     const ChunkSums<T>& sums, int64_t chunks, int64_t from, int64_t to) {
  const int64_t width = context.width, d = context.d, vector = context.call.vector;
  const typename ChunkSums<T>::Unit unit = sums.unit(index);
  auto out = [&](const Stacked& parameter, int64_t place) {
    return static_cast<T*>(parameter.start) + restart * parameter.stride + place;
  };
  auto copy = [&](const T* rows, T* to_rows, int64_t first, int64_t end) {
    for (int64_t k = first; k < end; ++k)
      for (int64_t i = 0; i < d; ++i) to_rows[k * d + i] = rows[k * width + i];
  };
  auto sum = [&](T* rows, T* to_rows, int64_t first, int64_t end) {
    add_chunks<T>(chunks, sums.size(), rows + first * width, (end - first) * width);
    copy(rows, to_rows, first, end);
  };
  sum(unit.candidate_query, out(gradients.candidate_query, index * d * d), from, to);
  // The packed weights are no longer needed: the gradient reuses their memory.
  T* const sentence = context.weights(restart, index).candidate_sentence;
  multiply<T>(to - from, context.plan.used, context.table(restart) + from, 1, width, unit.sentence_product, false,
              sentence + from * width, d, false);
  copy(sentence, out(gradients.candidate_sentence, index * d * d), from, to);
  for (int g = 0; g < kGates; ++g) {
    if (g > 0 && !(context.has_resets() && index < context.own_resets())) continue;
    const int64_t place = g == 0 ? index : 2 * index + g - 1;
    T* const weight = out(g == 0 ? gradients.update_weight : gradients.reset_weight, place * (vector ? d * d : d));
    if (vector || from == 0) sum(unit.gate_weight[g], weight, from, vector ? to : 1);
    if (from > 0) continue;
    T* const bias = out(g == 0 ? gradients.update_bias : gradients.reset_bias, place * (vector ? d : 1));
    add_chunks<T>(chunks, sums.size(), unit.gate_bias[g], width);
    for (int64_t i = 0; i < (vector ? d : 1); ++i) bias[i] = unit.gate_bias[g][i];
  }
  if (from == 0) {
    T* const bias = out(gradients.candidate_bias, index * d);
    for (int64_t i = 0; i < d; ++i) bias[i] = T(0);
    for (int64_t u = 0; u < context.plan.used; ++u)
      for (int64_t i = 0; i < d; ++i) bias[i] += unit.sentence_product[u * width + i];
  }
}

// What the gradient needs of all restarts, and scratch memory for every thread.
template <class T> struct BackwardWork {
  const Context<T> context;
  const ReaderCall& gradients;
  // One thread adds each chunk to the first before it goes on, so two are enough.
  const int64_t kept_chunks;
  int64_t sums_size, scratch_size;
  T *sums, *scratch;

  BackwardWork(const ReaderCall& call, const ReaderCall& gradients, const Plan& plan, Carver<T>& carver)
      : context(call, plan, carver), gradients(gradients),
        kept_chunks(call.threads == 1 && plan.chunks > 2 ? 2 : plan.chunks) {
    sums_size = ChunkSums<T>(context, nullptr).size();
    sums = carver.take(checked_product(call.restarts, kept_chunks), sums_size);
    Carver<T> counter{nullptr};
    BackwardScratch<T>(context, counter);
    scratch_size = counter.taken;
    scratch = carver.take(call.threads, scratch_size);
  }

  T* sums_of(int64_t restart, int64_t chunk) const {
    return sums + (restart * kept_chunks + (chunk < kept_chunks ? chunk : 1)) * sums_size;
  }

  void prepare() const {
    auto prepare_one = [&](int64_t restart, int64_t) {
      context.pack_weights(restart, true);
      context.copy_table(restart, 0, context.plan.used);
      clear_unused<T>(context, gradients, restart);
    };
    parallel(context.call, context.call.restarts, prepare_one);
  }

  // Calls before(restart, group, worker), which returns the group's saved rows, and adds up the gradients of each chunk.
  template <class Before> void read(Before before) const {
    const Plan& plan = context.plan;
    auto read_one = [&](int64_t task, int64_t worker) {
      const int64_t restart = task / plan.chunks, chunk = task % plan.chunks;
      T* const memory = sums_of(restart, chunk);
      std::memset(memory, 0, size_t(sums_size) * sizeof(T));
      const ChunkSums<T> own(context, memory);
      for (int64_t group = plan.chunk[chunk]; group < plan.chunk[chunk + 1] && !stopped(context.call.stop); ++group)
        group_gradient<T>(context, gradients, restart, group, before(restart, group, worker), own,
                          scratch + worker * scratch_size);
      if (context.call.threads == 1 && chunk > 0) add_all<T>(sums_of(restart, 0), memory, sums_size);
    };
    parallel(context.call, context.call.restarts * plan.chunks, read_one);
  }

  // The gradients of table and weights, from those of the chunks.
  void finish() const {
    const int64_t blocks = table_blocks(context.plan), to_add = context.call.threads == 1 ? 1 : context.plan.chunks;
    const int64_t pieces = (context.d + kWeightRows - 1) / kWeightRows, parts = context.own * pieces;
    auto tables_one = [&](int64_t task, int64_t) {
      const int64_t restart = task / blocks, block = task % blocks;
      table_gradient<T>(context, gradients, restart, ChunkSums<T>(context, sums_of(restart, 0)), to_add,
                        block * kTableRows, block_end(context.plan, block));
    };
    parallel(context.call, context.call.restarts * blocks, tables_one);
    auto matrices_one = [&](int64_t task, int64_t) {
      const int64_t restart = task / parts, part = task % parts, from = part % pieces * kWeightRows;
      weight_gradient<T>(context, gradients, restart, part / pieces, ChunkSums<T>(context, sums_of(restart, 0)), to_add,
                         from, from + kWeightRows < context.d ? from + kWeightRows : context.d);
    };
    if (context.plan.chunks > 0) parallel(context.call, context.call.restarts * parts, matrices_one);
  }
};

template <class T>
void read_backward(const ReaderCall& all, const ReaderCall& all_gradients, const Plan& plan, const void* saved) {
  share_out(all, [&](int64_t part) {
    const ReaderCall call = part_of<T>(all, part), gradients = part_of<T>(all_gradients, part);
    Carver<T> counter{nullptr};
    BackwardWork<T>(call, gradients, plan, counter);
    const Block block(counter.taken, sizeof(T));
    Carver<T> carver{static_cast<T*>(block.start)};
    const BackwardWork<T> work(call, gradients, plan, carver);
    const int64_t size = Saved<T>::size(work.context, plan.rows, false), first = part == kAll ? 0 : part;
    work.prepare();
    work.read([&](int64_t restart, int64_t, int64_t) {
      T* const own = static_cast<T*>(const_cast<void*>(saved)) + (first + restart) * size;
      return Saved<T>(work.context, own, 0, plan.rows, false);
    });
    work.finish();
  });
}

}  // namespace QRN_VARIANT
}  // namespace qrn
