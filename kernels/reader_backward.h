// The gradient of reading, layer by layer from the last, for a group of examples.
#pragma once

#include <initializer_list>

#include "reader_forward.h"

namespace qrn {
namespace QRN_VARIANT {

// Gradient sums of one chunk and restart, padded like the prepared weights.
template <class T> struct ChunkSums {
  T* table;  // gradient of the used table rows, the part that comes through the gates
  struct Unit {
    T *sentence_product, *candidate_query, *gate_weight[kGates], *gate_bias[kGates];
  };

  ChunkSums(const Context<T>& context, T* memory) : context_(context), memory_(memory) {
    Carver<T> carver{memory};
    table = carver.take(context.plan.used, context.width);
    size_ = carver.taken;
    for (int64_t index = 0; index < context.own; ++index) carve(carver);
    size_ = carver.taken;
  }
  int64_t size() const { return size_; }
  Unit unit(int64_t wanted) const {
    Carver<T> carver{memory_};
    carver.take(context_.plan.used, context_.width);
    for (int64_t index = 0; index < wanted; ++index) carve(carver);
    return carve(carver);
  }

 private:
  Unit carve(Carver<T>& carver) const {
    Unit unit;
    unit.sentence_product = carver.take(context_.plan.used, context_.width);
    unit.candidate_query = carver.take(context_.d, context_.width);
    for (int g = 0; g < kGates; ++g) {
      unit.gate_weight[g] = carver.take(context_.call.vector ? context_.d : 1, context_.width);
      unit.gate_bias[g] = carver.take(context_.width);
    }
    return unit;
  }
  const Context<T>& context_;
  T* memory_;
  int64_t size_;
};

template <class T> struct BackwardScratch {
  T *question, *question_gradient, *product_gradient, *state, *row_state[2];
  T *query, *forward_before;  // of the layer below: its reduced queries, its forward state before each row
  T *gradient, *next_gradient, *backward_gradient, *keep, *take[2];
  T *similarity, *similarity_gradient;  // vector gates only
  T* score_gradient[kGates];  // scalar gates: one number per row

  BackwardScratch(const Context<T>& context, Carver<T>& carver) {
    const int64_t rows = context.plan.most_rows, width = context.width, examples = context.plan.most_examples;
    for (T** piece : {&question, &question_gradient, &product_gradient}) *piece = carver.take(examples, width);
    for (T** piece : {&state, &row_state[0], &row_state[1]}) *piece = carver.take(width);
    for (T** piece : {&query, &forward_before, &gradient, &next_gradient, &backward_gradient})
      *piece = carver.take(rows, width);
    for (T** piece : {&similarity, &similarity_gradient}) *piece = carver.take(context.call.vector ? rows : 0, width);
    for (T** piece : {&keep, &take[0], &take[1]}) *piece = carver.take(padded<T>(rows));
    for (T*& piece : score_gradient) piece = context.call.vector ? carver.take(rows, width) : carver.take(padded<T>(rows));
  }
};

// Last layer, scalar gates: out = sum of share_t candidate_t. Only numbers run along time:
// e_t = dout . c_t, before_t = dout . h_{t-1}, dz_t = left_t (e_t - before_t).
template <class T>
void last_layer_gradient(const Stretch<T>& stretch, int64_t rows, int64_t width, const T* dout, const T* candidate,
                         const T* z, T* score_gradient, T* share, T* gradient) {
  for (int64_t t = 0; t < rows; ++t) {
    Vec<T> sum = {};
    for (int64_t i = 0; i < width; i += kLanes<T>) sum += load(dout + i) * load(candidate + t * width + i);
    score_gradient[t] = sum_lanes(sum);
  }
  T before = T(0);
  for (int64_t t = 0; t < rows; ++t) {
    const T here = score_gradient[t] - before;
    score_gradient[t] = here;
    before += z[t] * here;
  }
  T left = T(1);
  for (int64_t t = rows - 1; t >= 0; --t) {
    share[t] = z[t] * left;
    score_gradient[t] *= stretch.rise(z[t]) * left * stretch.fall(z[t]);
    left *= T(1) - z[t];
  }
  for (int64_t t = 0; t < rows; ++t)
    for (int64_t i = 0; i < width; i += kLanes<T>) {
      const Vec<T> c = load(candidate + t * width + i);
      store<T>(gradient + t * width + i, splat<T>(share[t]) * load(dout + i) * (splat<T>(1) - c * c));
    }
}

// The same with one gate per element; `before` needs all earlier states, kept in score_gradient until used.
template <class T>
void last_layer_gradient_vector(const Stretch<T>& stretch, int64_t rows, int64_t width, const T* dout,
                                const T* candidate, const T* z, T* score_gradient, T* gradient) {
  for (int64_t i = 0; i < width; i += kLanes<T>) {
    Vec<T> state = {};
    for (int64_t t = 0; t < rows; ++t) {
      const int64_t at = t * width + i;
      const Vec<T> here = load(candidate + at) - state;
      store<T>(score_gradient + at, here);
      state += load(z + at) * here;
    }
    Vec<T> left = load(dout + i);
    for (int64_t t = rows - 1; t >= 0; --t) {
      const int64_t at = t * width + i;
      const Vec<T> gate = load(z + at), c = load(candidate + at), share = gate * left;
      store<T>(score_gradient + at, load(score_gradient + at) * (stretch.rise(gate) * left) * stretch.fall(gate));
      left *= splat<T>(1) - gate;
      store<T>(gradient + at, share * (splat<T>(1) - c * c));
    }
  }
}

// A layer with both directions, scalar gates. `gradient` comes in as that of the reduced queries and leaves as that of
// the candidate before tanh; score_gradient receives the gates'. The adjoint of the backward state runs forward in time
// (first loop), that of the forward state backward, together with the backward state itself (second loop).
template <class T, int Gates>
void reduce_gradient(const Stretch<T>& stretch, int64_t rows, int64_t width, const T* candidate, const T* const* gate, const T* keep,
                     const T* const* take, const T* forward_before, T* gradient, T* backward_gradient,
                     T* const* row_state, T* const* score_gradient) {
  for_columns<T>(width, [&](int64_t column, auto vectors) {
    constexpr int kVectors = decltype(vectors)::value;
    Vec<T> adjoint[kVectors] = {};
    for (int64_t t = 0; t < rows; ++t)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const int64_t at = t * width + column + j * kLanes<T>;
        adjoint[j] += load(gradient + at);
        store<T>(backward_gradient + at, adjoint[j]);
        adjoint[j] *= splat<T>(keep[t]);
      }
  });
  T* const state = row_state[0];
  T* const adjoint = row_state[1];
  for (int64_t i = 0; i < width; i += kLanes<T>) {
    store<T>(state + i, Vec<T>{});
    store<T>(adjoint + i, Vec<T>{});
  }
  for (int64_t t = rows - 1; t >= 0; --t) {
    const Vec<T> kept = splat<T>(keep[t]), from_forward = splat<T>(take[0][t]), from_backward = splat<T>(take[1][t]);
    Vec<T> with_states = {}, with_candidate[2] = {};
    for (int64_t i = 0; i < width; i += kLanes<T>) {
      const int64_t at = t * width + i;
      const Vec<T> c = load(candidate + at), before = load(state + i);
      const Vec<T> forward = load(adjoint + i) + load(gradient + at), backward = load(backward_gradient + at);
      with_states += forward * load(forward_before + at) + backward * before;
      with_candidate[0] += forward * c;
      with_candidate[1] += backward * c;
      store<T>(gradient + at, (from_forward * forward + from_backward * backward) * (splat<T>(1) - c * c));
      store<T>(adjoint + i, kept * forward);
      store<T>(state + i, kept * before + from_backward * c);
    }
    const T z = gate[0][t], lost = sum_lanes(with_states);
    const T forward = sum_lanes(with_candidate[0]), backward = sum_lanes(with_candidate[1]);
    const T gained = Gates == kGates ? gate[1][t] * forward + gate[2][t] * backward : forward + backward;
    score_gradient[0][t] = (gained - lost) * stretch.rise(z) * stretch.fall(z);
    if (Gates == kGates) {
      score_gradient[1][t] = z * forward * gate[1][t] * (T(1) - gate[1][t]);
      score_gradient[2][t] = z * backward * gate[2][t] * (T(1) - gate[2][t]);
    }
  }
}

template <class T, int Gates>
void reduce_gradient_vector(const Stretch<T>& stretch, int64_t rows, int64_t width, const T* candidate,
                            const T* const* gate, const T* forward_before, T* gradient, T* backward_gradient,
                            T* const* score_gradient) {
  const Vec<T> one = splat<T>(1);
  for (int64_t i = 0; i < width; i += kLanes<T>) {
    Vec<T> state = {}, adjoint = {};
    for (int64_t t = 0; t < rows; ++t) {
      const int64_t at = t * width + i;
      adjoint += load(gradient + at);
      store<T>(backward_gradient + at, adjoint);
      adjoint *= one - load(gate[0] + at);
    }
    adjoint = Vec<T>{};
    for (int64_t t = rows - 1; t >= 0; --t) {
      const int64_t at = t * width + i;
      const Vec<T> z = load(gate[0] + at), c = load(candidate + at);
      const Vec<T> forward = adjoint + load(gradient + at), backward = load(backward_gradient + at);
      const Vec<T> lost = forward * load(forward_before + at) + backward * state;
      Vec<T> into = forward + backward, taken = z;
      if (Gates == kGates) {
        const Vec<T> first = load(gate[1] + at), second = load(gate[2] + at);
        into = first * forward + second * backward;
        taken = z * second;
        store<T>(score_gradient[1] + at, z * forward * c * first * (one - first));
        store<T>(score_gradient[2] + at, z * backward * c * second * (one - second));
      }
      store<T>(score_gradient[0] + at, (into * c - lost) * stretch.rise(z) * stretch.fall(z));
      store<T>(gradient + at, z * into * (one - c * c));
      adjoint = (one - z) * forward;
      state = (one - z) * state + taken * c;
    }
  }
}

template <class T> QRN_INLINE void add_to(T* sum, Vec<T> value) { store<T>(sum, load(sum) + value); }

// As many vectors side by side as leave registers for the sums of all gates.
template <int Gates> constexpr int kSumVectors = Gates == 1 ? 4 : 2;

// Gradients of the similarity x o q of layers after the first, scalar gates: into the table's and the query's rows and
// the gate weights; the candidate's into the sentence products.
template <class T, int Gates>
void similarity_gradient(int64_t rows, int64_t width, const T* table, const int32_t* table_row, const T* q,
                         const T* const* weight, const T* gradient, const T* const* score_gradient, T* table_sum,
                         T* product_sum, T* const* weight_sum, T* q_gradient) {
  for_columns<T, kSumVectors<Gates>>(width, [&](int64_t column, auto vectors) {
    constexpr int kVectors = decltype(vectors)::value;
    Vec<T> sum[Gates][kVectors] = {};
    for (int64_t t = 0; t < rows; ++t) {
      Vec<T> score[Gates];
#pragma GCC unroll 3
      for (int g = 0; g < Gates; ++g) score[g] = splat<T>(score_gradient[g][t]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const int64_t i = column + j * kLanes<T>, at = t * width + i, there = table_row[t] * width + i;
        const Vec<T> x = load(table + there), query = load(q + at), both = x * query;
        Vec<T> similarity = {};
#pragma GCC unroll 3
        for (int g = 0; g < Gates; ++g) {
          similarity += score[g] * load(weight[g] + i);
          sum[g][j] += score[g] * both;
        }
        add_to<T>(table_sum + there, similarity * query);
        add_to<T>(product_sum + there, load(gradient + at));
        add_to<T>(q_gradient + at, similarity * x);
      }
    }
    for (int g = 0; g < Gates; ++g)
      for (int j = 0; j < kVectors; ++j) add_to<T>(weight_sum[g] + column + j * kLanes<T>, sum[g][j]);
  });
}

// The same for an example of layer 0, whose query is one vector: sums over the rows come first.
template <class T, int Gates>
void first_similarity_gradient(int64_t rows, int64_t width, const T* table, const int32_t* table_row, const T* question,
                               const T* const* weight, const T* gradient, const T* const* score_gradient, T* table_sum,
                               T* product_sum, T* const* weight_sum, T* question_gradient, T* product_gradient) {
  for_columns<T, kSumVectors<Gates>>(width, [&](int64_t column, auto vectors) {
    constexpr int kVectors = decltype(vectors)::value;
    Vec<T> x_sum[Gates][kVectors] = {}, gradient_sum[kVectors] = {};
    T scaled[Gates][kVectors * kLanes<T>];  // weight times question
    for (int g = 0; g < Gates; ++g)
      for (int64_t i = 0; i < kVectors * kLanes<T>; i += kLanes<T>)
        store<T>(scaled[g] + i, load(weight[g] + column + i) * load(question + column + i));
    for (int64_t t = 0; t < rows; ++t) {
      Vec<T> score[Gates];
#pragma GCC unroll 3
      for (int g = 0; g < Gates; ++g) score[g] = splat<T>(score_gradient[g][t]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const int64_t i = column + j * kLanes<T>, there = table_row[t] * width + i;
        const Vec<T> x = load(table + there), here = load(gradient + t * width + i);
        Vec<T> similarity = {};
#pragma GCC unroll 3
        for (int g = 0; g < Gates; ++g) {
          similarity += score[g] * load(scaled[g] + j * kLanes<T>);
          x_sum[g][j] += score[g] * x;
        }
        gradient_sum[j] += here;
        add_to<T>(table_sum + there, similarity);
        add_to<T>(product_sum + there, here);
      }
    }
    for (int j = 0; j < kVectors; ++j) {
      const int64_t i = column + j * kLanes<T>;
      Vec<T> into_question = {};
      for (int g = 0; g < Gates; ++g) {
        add_to<T>(weight_sum[g] + i, load(question + i) * x_sum[g][j]);
        into_question += load(weight[g] + i) * x_sum[g][j];
      }
      add_to<T>(question_gradient + i, into_question);
      add_to<T>(product_gradient + i, gradient_sum[j]);
    }
  });
}

}  // namespace QRN_VARIANT
}  // namespace qrn
