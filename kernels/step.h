// A training step up to the gradients: encode, read, score the answers, and back. Each group of examples goes forward and
// backward before the next one is read, so that what its gradient needs is still in the cache.
#pragma once

#include <cmath>

#include "encode.h"
#include "reader_gradient.h"

namespace qrn {
namespace QRN_VARIANT {

// What lies between the steps of one restart. Rows of sentences and questions are as long as those of the parameters.
template <class T> struct StepRows {
  T *table, *table_gradient, *query, *query_gradient, *out, *out_gradient;
  T *answer, *answer_columns;         // the head's weights, padded, by answer and by dimension
  T *reduced, *reduced_gradient;      // out, padded
  T *scores, *losses;                 // of every question; scores become their own gradient

  StepRows(const StepCall& call, int64_t width, Carver<T> carver) {
    const int64_t d = call.reader.dim, batch = call.reader.batch, padded_answers = padded<T>(call.answers);
    for (T** piece : {&table, &table_gradient}) *piece = carver.take(call.reader.sentences, d);
    for (T** piece : {&query, &query_gradient, &out, &out_gradient}) *piece = carver.take(batch, d);
    answer = carver.take(call.answers, width);
    answer_columns = carver.take(d, padded_answers);
    for (T** piece : {&reduced, &reduced_gradient}) *piece = carver.take(batch, width);
    scores = carver.take(batch, padded_answers);
    losses = carver.take(batch);
    size = carver.taken;
  }
  int64_t size;
};

// The cross-entropy of one question; the scores become the gradient of `scale` times it.
template <class T> T cross_entropy(int64_t answers, int64_t correct, T scale, T* scores) {
  T most = scores[0];
  for (int64_t a = 1; a < answers; ++a) most = scores[a] > most ? scores[a] : most;
  const T right = scores[correct] - most;
  const int64_t width = padded<T>(answers);
  for (int64_t a = answers; a < width; ++a) scores[a] = most + Exp<T>::lowest;  // as good as impossible
  Vec<T> sum = {};
  for (int64_t a = 0; a < width; a += kLanes<T>) {
    const Vec<T> power = exp<T>(load(scores + a) - splat<T>(most));
    store<T>(scores + a, power);
    sum += power;
  }
  const T total = sum_lanes(sum), factor = scale / total;
  for (int64_t a = 0; a < answers; ++a) scores[a] *= factor;
  scores[correct] -= scale;
  return std::log(total) - right;
}

template <class T> class Step {
 public:
  Step(const StepCall& call, const Plan& plan, Carver<T>& carver)
      : call_(call), plan_(plan), reader_(call.reader), gradients_(call.gradients), width_(padded<T>(call.reader.dim)),
        row_size_(StepRows<T>(call, width_, {nullptr}).size), rows_(carver.take(call.reader.restarts, row_size_)),
        connected_(connect()), forward_(reader_, plan, true, carver), backward_(reader_, gradients_, plan, carver),
        saved_size_(Saved<T>::size(forward_.context, plan.most_rows, true)),
        saved_(carver.take(call.reader.threads, saved_size_)) {}

  void run() const {
    encode_all(call_.by_sentence, call_.embedding, reader_.table);
    auto prepare_one = [&](int64_t restart, int64_t) { prepare(restart); };
    parallel(reader_, reader_.restarts, prepare_one);
    forward_.prepare();
    backward_.prepare();
    backward_.read([&](int64_t restart, int64_t group, int64_t worker) {
      const int64_t first_row = plan_.offset[plan_.group[group]];
      const Saved<T> saved(forward_.context, saved_ + worker * saved_size_, first_row, plan_.most_rows, true);
      forward_.read(restart, group, &saved, worker);
      answer(restart, plan_.group[group], plan_.group[group + 1]);
      return saved;
    });
    backward_.finish();
    auto finish_one = [&](int64_t restart, int64_t) { finish(restart); };
    parallel(reader_, reader_.restarts, finish_one);
    encode_all(call_.by_word, gradients_.table, call_.embedding_gradient);
  }

 private:
  StepRows<T> rows(int64_t restart) const { return {call_, width_, {rows_ + restart * row_size_}}; }

  // Lets the reader read from and write to the rows.
  bool connect() {
    const StepRows<T> first(call_, width_, {rows_});
    reader_.table = {first.table, row_size_};
    reader_.query = {first.query, row_size_};
    reader_.out = {first.out, row_size_};
    gradients_.table = {first.table_gradient, row_size_};
    gradients_.query = {first.query_gradient, row_size_};
    gradients_.out = {first.out_gradient, row_size_};
    return true;
  }

  void encode_all(const EncoderCall* pieces, const Stacked& from, const Stacked& to) const {
    const bool backward = pieces == call_.by_word;
    for (int64_t piece = 0; piece < call_.pieces && !stopped(reader_.stop); ++piece) {
      EncoderCall part = pieces[piece];
      part.restarts = reader_.restarts;
      part.threads = reader_.threads < part.threads ? reader_.threads : part.threads;
      part.from = from;
      part.to = to;
      Stacked& of_sentences = backward ? part.from : part.to;
      of_sentences.start = static_cast<T*>(of_sentences.start) + piece * kSentencesAtOnce * reader_.dim;
      encode<T>(part);
    }
  }

  void prepare(int64_t restart) const {
    const StepRows<T> own = rows(restart);
    const int64_t d = reader_.dim, padded_answers = padded<T>(call_.answers);
    for (int64_t b = 0; b < reader_.batch; ++b)
      std::memcpy(own.query + b * d, own.table + call_.questions[b] * d, size_t(d) * sizeof(T));
    const T* const weight = Context<T>::stacked(call_.answer, restart);
    std::memset(own.answer_columns, 0, size_t(d * padded_answers) * sizeof(T));
    for (int64_t a = 0; a < call_.answers; ++a) {
      forward_.context.copy_row(weight + a * d, own.answer + a * width_);
      for (int64_t i = 0; i < d; ++i) own.answer_columns[i * padded_answers + a] = weight[a * d + i];
    }
  }

  // Losses of the examples [first, end), and the gradient of what was read.
  void answer(int64_t restart, int64_t first, int64_t end) const {
    const StepRows<T> own = rows(restart);
    const int64_t d = reader_.dim, padded_answers = padded<T>(call_.answers), examples = end - first;
    T* const reduced = own.reduced + first * width_;
    T* const gradient = own.reduced_gradient + first * width_;
    T* const scores = own.scores + first * padded_answers;
    for (int64_t e = 0; e < examples; ++e) forward_.context.copy_row(own.out + (first + e) * d, reduced + e * width_);
    multiply<T>(examples, d, reduced, width_, 1, own.answer_columns, false, scores, call_.answers, false);
    for (int64_t e = 0; e < examples; ++e)
      own.losses[first + e] = cross_entropy<T>(call_.answers, call_.correct[first + e], T(call_.scale / double(reader_.batch)),
                                               scores + e * padded_answers);
    multiply<T>(examples, call_.answers, scores, padded_answers, 1, own.answer, false, gradient, d, false);
    for (int64_t e = 0; e < examples; ++e)
      std::memcpy(own.out_gradient + (first + e) * d, gradient + e * width_, size_t(d) * sizeof(T));
  }

  // The mean loss, and the gradients of the answers' weights and, through the questions, of the table.
  void finish(int64_t restart) const {
    const StepRows<T> own = rows(restart);
    const int64_t d = reader_.dim, batch = reader_.batch;
    T total = T(0);
    for (int64_t b = 0; b < batch; ++b) {
      total += own.losses[b];
      for (int64_t i = 0; i < d; ++i) own.table_gradient[call_.questions[b] * d + i] += own.query_gradient[b * d + i];
    }
    *Context<T>::stacked(call_.losses, restart) = total / T(batch);
    T* const weight = Context<T>::stacked(call_.answer_gradient, restart);
    // The padded weights are no longer needed: the gradient reuses their memory.
    multiply<T>(call_.answers, batch, own.scores, 1, padded<T>(call_.answers), own.reduced, false, own.answer, d, false);
    for (int64_t a = 0; a < call_.answers; ++a)
      std::memcpy(weight + a * d, own.answer + a * width_, size_t(d) * sizeof(T));
  }

  const StepCall& call_;
  const Plan& plan_;
  ReaderCall reader_, gradients_;
  const int64_t width_, row_size_;
  T* const rows_;
  const bool connected_;
  const ForwardWork<T> forward_;
  const BackwardWork<T> backward_;
  const int64_t saved_size_;
  T* const saved_;
};

template <class T> StepCall part_of(const StepCall& call, int64_t restart) {
  StepCall own = call;
  own.reader = part_of<T>(call.reader, restart);
  own.gradients = part_of<T>(call.gradients, restart);
  for (Stacked* parameter : {&own.embedding, &own.embedding_gradient, &own.answer, &own.answer_gradient, &own.losses})
    *parameter = part_of<T>(*parameter, restart);
  return own;
}

template <class T> void take_step(const StepCall& all, const Plan& plan) {
  share_out(all.reader, [&](int64_t part) {
    const StepCall call = part_of<T>(all, part);
    Carver<T> counter{nullptr};
    Step<T>(call, plan, counter);
    const Block block(counter.taken, sizeof(T));
    Carver<T> carver{static_cast<T*>(block.start)};
    Step<T>(call, plan, carver).run();
  });
}

}  // namespace QRN_VARIANT
}  // namespace qrn
