// What a caller may request: every field of a call has a range, and the sizes that follow from them are checked.
#pragma once

#include "reader.h"

namespace qrn {

// kDone, or kBadCall with a message for qrn_message.
Status check(const ReaderCall& call);
Status check(const EncoderCall& call, int64_t sentences, int64_t row, int64_t vocabulary, int64_t longest);
Status check(const StepCall& call);
Status check(const UpdateCall& call);
Status check(const ScanCall& call);
Status check(const TriadCall& call);

// Why this thread's last call was rejected.
const char* refusal();

}  // namespace qrn
