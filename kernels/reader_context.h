// Where everything of a reader call lies in memory. Rows are padded to whole vectors; the padding holds zeros.
#pragma once

#include <initializer_list>

#include "gemm.h"
#include "pool.h"
#include "reader.h"
#include "vecmath.h"

namespace qrn {
namespace QRN_VARIANT {

// The gates of a layer: update, reset forward in time, reset backward.
constexpr int kGates = 3;
// Rows of the sentence table that one task multiplies.
constexpr int64_t kTableRows = 64;
// Rows of a long story that go through all steps of a layer that do not run along time before the next ones do, so
// that they are still in the cache.
constexpr int64_t kRowsAtOnce = 256;
QRN_INLINE int64_t rows_at_once(int64_t left) { return left < kRowsAtOnce ? left : kRowsAtOnce; }

// Hands out consecutive pieces of a block, in whole cache lines; with a null block it only counts.
template <class T> struct Carver {
  T* base;
  int64_t taken = 0;
  T* take(int64_t rows, int64_t row = 1) {
    T* const piece = base == nullptr ? nullptr : base + taken;
    const int64_t line = 64 / int64_t(sizeof(T));
    taken = checked_sum(taken, (checked_product(rows, row) + line - 1) / line * line);
    return piece;
  }
};

// Weights of one restart and layer, padded or packed for multiplication.
template <class T> struct UnitWeights {
  T* candidate_query;        // packed
  T* candidate_sentence;     // packed
  T* gate_weight[kGates];    // scalar gates: one row; vector gates: packed
  T* gate_bias[kGates];      // one row
  T* sentence_product;       // candidate_sentence times every used table row, plus the bias
};

// What a layer leaves for its gradient, from some row on. Of a whole batch the states are not included: running the scan
// again costs less than writing them to memory and reading them back.
template <class T> struct LayerRows {
  T* candidate;
  T* gate[kGates];  // scalar gates: one number per row
  T *before = nullptr, *reduced = nullptr;  // the forward state before each row, the reduced queries
};

template <class T> struct Context {
  const ReaderCall& call;
  const Plan& plan;
  const int64_t d, width, own;
  const int64_t gate_row;  // numbers per row and gate
  const Stretch<T> stretch;
  int64_t restart_size;
  T* prepared;

  // With memory for the prepared pieces of all restarts of the call.
  Context(const ReaderCall& call, const Plan& plan, Carver<T>& memory)
      : call(call), plan(plan), d(call.dim), width(padded<T>(call.dim)), own(call.tied ? 1 : call.layers),
        gate_row(call.vector ? width : 1), stretch(call.stretch) {
    Carver<T> carver{nullptr};
    carve(carver);
    restart_size = carver.taken;
    prepared = memory.take(call.restarts, restart_size);
  }

  int64_t gates(int64_t layer) const { return call.reset && layer < call.layers - 1 ? kGates : 1; }
  int64_t own_layer(int64_t layer) const { return call.tied ? 0 : layer; }
  int64_t own_resets() const { return call.tied ? 1 : call.layers - 1; }
  bool has_resets() const { return call.reset && call.layers > 1; }

  T* table(int64_t restart) const { return prepared + restart * restart_size; }
  UnitWeights<T> weights(int64_t restart, int64_t own_index) const {
    Carver<T> carver{table(restart)};
    return carve(carver, own_index);
  }

  // Copy the used rows [from, to) of a restart's table, padded.
  void copy_table(int64_t restart, int64_t from, int64_t to) const {
    const T* const source = static_cast<const T*>(call.table.start) + restart * call.table.stride;
    for (int64_t u = from; u < to; ++u)
      copy_row(source + plan.original[u] * d, table(restart) + u * width);
  }

  void copy_row(const T* from, T* to) const {
    for (int64_t i = 0; i < d; ++i) to[i] = from[i];
    for (int64_t i = d; i < width; ++i) to[i] = T(0);
  }

  // Pack the weights of one restart for the forward products, or transposed for those of the gradient.
  void pack_weights(int64_t restart, bool transposed) const {
    const int64_t square = d * d, gate_size = call.vector ? square : d, biases = call.vector ? d : 1;
    const int64_t row = transposed ? 1 : d, step = transposed ? d : 1;
    for (int64_t index = 0; index < own; ++index) {
      const UnitWeights<T> to = weights(restart, index);
      pack<T>(d, stacked(call.candidate_query, restart) + index * square, row, step, to.candidate_query);
      pack<T>(d, stacked(call.candidate_sentence, restart) + index * square, row, step, to.candidate_sentence);
      for (int g = 0; g < kGates; ++g) {
        const bool there = g == 0 || (has_resets() && index < own_resets());
        if (!there) continue;
        const int64_t place = g == 0 ? index : 2 * index + g - 1;
        const T* const weight = stacked(g == 0 ? call.update_weight : call.reset_weight, restart) + place * gate_size;
        const T* const bias = stacked(g == 0 ? call.update_bias : call.reset_bias, restart) + place * biases;
        if (call.vector)
          // Scores are similarity times the transpose of the weights, so here it is reversed.
          pack<T>(d, weight, step, row, to.gate_weight[g]);
        else
          copy_row(weight, to.gate_weight[g]);
        for (int64_t i = 0; i < width; ++i)
          to.gate_bias[g][i] = i < biases ? bias[i] - (g == 0 ? T(call.forget_bias) : T(0)) : T(0);
      }
    }
  }

  static T* stacked(const Stacked& parameter, int64_t restart) {
    return static_cast<T*>(parameter.start) + restart * parameter.stride;
  }

 private:
  // The one place that knows the order of a restart's prepared pieces.
  UnitWeights<T> carve(Carver<T>& carver, int64_t wanted = -1) const {
    UnitWeights<T> result{};
    carver.take(plan.used, width);
    for (int64_t index = 0; index < own; ++index) {
      UnitWeights<T> unit;
      unit.candidate_query = carver.take(d, width);
      unit.candidate_sentence = carver.take(d, width);
      for (int g = 0; g < kGates; ++g) {
        unit.gate_weight[g] = carver.take(call.vector ? d : 1, width);
        unit.gate_bias[g] = carver.take(width);
      }
      unit.sentence_product = carver.take(plan.used, width);
      if (index == wanted) result = unit;
    }
    return result;
  }
};

// Rows of all layers of one restart, kept for the gradient: of the whole batch, or of one group at a time with its states.
template <class T> struct Saved {
  T* start;
  int64_t first, rows, width, gate_row;  // number of the first row, and how many there is room for
  bool states;

  static int64_t size(const Context<T>& context, int64_t rows, bool states) {
    const int64_t row = (states ? 3 : 1) * context.width + kGates * context.gate_row;
    return checked_product(context.call.layers, checked_product(rows, row));
  }
  Saved(const Context<T>& context, T* start, int64_t first, int64_t rows, bool states)
      : start(start), first(first), rows(rows), width(context.width), gate_row(context.gate_row), states(states) {}

  LayerRows<T> layer(int64_t layer, int64_t row) const {
    T* piece = start + layer * rows * ((states ? 3 : 1) * width + kGates * gate_row);
    auto take = [&](int64_t numbers) {
      T* const there = piece + (row - first) * numbers;
      piece += rows * numbers;
      return there;
    };
    LayerRows<T> found;
    found.candidate = take(width);
    if (states) found.before = take(width), found.reduced = take(width);
    for (T*& gate : found.gate) gate = take(gate_row);
    return found;
  }
};

// Stands for all restarts of a call.
constexpr int64_t kAll = -1;

template <class T> QRN_INLINE Stacked part_of(const Stacked& parameter, int64_t restart) {
  if (restart == kAll || parameter.start == nullptr) return parameter;
  return {static_cast<T*>(parameter.start) + restart * parameter.stride, parameter.stride};
}

// One restart of a call as a call of its own, for one thread; or all of it.
template <class T> ReaderCall part_of(const ReaderCall& call, int64_t restart) {
  ReaderCall own = call;
  if (restart != kAll) own.restarts = own.threads = 1;
  for (Stacked* parameter : {&own.table, &own.query, &own.candidate_query, &own.candidate_sentence, &own.candidate_bias,
                             &own.update_weight, &own.update_bias, &own.reset_weight, &own.reset_bias, &own.out})
    *parameter = part_of<T>(*parameter, restart);
  return own;
}

// Runs body(restart) as a task of its own for every restart, so that everything it touches stays in its core's cache and
// nobody waits; with too few to share out evenly, body(kAll) on all threads. The numbers are the same.
template <class Body> void share_out(const ReaderCall& call, Body body) {
  if (call.restarts % call.threads != 0 && call.restarts < 4 * call.threads) return body(kAll);
  auto task = [&](int64_t restart, int64_t) { body(restart); };
  parallel(call, call.restarts, task);
}

}  // namespace QRN_VARIANT
}  // namespace qrn
