// Schedules as a file: written, edited, replayed; what the file has not is chosen as always.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o %t.json --target=sim:sm_80
// RUN: FileCheck %s --check-prefix=FILE < %t.json

// Equal dispatches are one entry, wherever they stand and whatever they are called.
// FILE: "cameo_schedules": 1
// FILE: "key": "[[NEGATED:[0-9a-f]{32}]]"
// FILE-NEXT: "nodes": [
// FILE-NEXT: "first",
// FILE-NEXT: "second"
// FILE-NEXT: ],
// FILE-NEXT: "schedule": "#kernel.schedule<\"map\", {flat = true, threads = 256 : i64, vector = 1 : i64}>",
// FILE-NEXT: "target": "sm_80"
// FILE-NOT: [[NEGATED]]
// FILE: "rooted"
// FILE-NOT: "key"

// Replayed as they are: the same file, and the same artefact to the byte.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o - --target=sim:sm_80 --schedules=%t.json | diff - %t.json
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.chosen --target=sim:sm_80
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.replayed --target=sim:sm_80 --schedules=%t.json
// RUN: cmp %t.chosen %t.replayed

// Edited.
// RUN: sed '0,/threads = 256/s//threads = 64/' %t.json > %t.edited.json
// RUN: cameo-opt %s --pass-pipeline='builtin.module(rt.variant(cameo-assign-schedules{schedules=%t.edited.json}),cameo-report-decisions)' 2>&1 | FileCheck %s --check-prefix=EDITED
// EDITED: remark: loc("first"): sm_80: schedule #kernel.schedule<"map", {flat = true, threads = 64 : i64, vector = 1 : i64}> of the file, estimated at {{[0-9.]+}} us
// EDITED: remark: loc("second"): sm_80: schedule #kernel.schedule<"map", {flat = true, threads = 64 : i64, vector = 1 : i64}> of the file
// EDITED: remark: loc("rooted"): sm_80: schedule #kernel.schedule<"map", {flat = true, threads = 256 : i64, vector = 1 : i64}> of the file

// What cannot be is refused where it is applied.
// RUN: sed '0,/threads = 256/s//threads = 4096/' %t.json > %t.wrong.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: first: error: schedule 'map' asks for 4096 threads; sm_80 allows 1 to 1024
// RUN: sed '0,/\\"map\\"/s//\\"contraction\\"/' %t.json > %t.class.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.class.json 2>&1 | FileCheck %s --check-prefix=CLASS
// CLASS: first: error: schedule 'contraction' cannot compute this dispatch

// Of another target.
// RUN: sed 's/"sm_80"/"sm_75"/' %t.json > %t.other.json
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.other.json 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: warning: none of the 0 schedules for sm_80 in '{{.*}}.other.json' is of a dispatch here

// Of another board of the architecture.
// RUN: sed 's/"sm_80"/"sm_80:a30"/' %t.json > %t.board.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.board.json 2>&1 | FileCheck %s --check-prefix=BOARD
// BOARD: error: schedules '{{.*}}.board.json' are for sm_80:a30, not for sm_80; --target names a board: --target=sm_80:a30

// Of a dispatch that is not there, named; among several files, which may be of other models, a remark.
// RUN: sed '0,/"key": "/s//"key": "0/' %t.json > %t.unused.json
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.unused.json 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: warning: 1 of the 2 schedules for sm_80 in '{{.*}}.unused.json' are of no dispatch here: first,second (key 0{{[0-9a-f]+}})
// RUN: cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.unused.json,%t.json 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: remark: 1 of the 3 schedules for sm_80 in '{{.*}}.unused.json;{{.*}}' are of no dispatch here: first,second (key 0{{[0-9a-f]+}})

// Of several files the first that has a dispatch counts.
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o - --target=sim:sm_80 --schedules=%t.edited.json,%t.json | diff - %t.edited.json
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o - --target=sim:sm_80 --schedules=%t.json,%t.edited.json | diff - %t.json

// Measured: the fastest of the last round that any was measured in, of all files.
// RUN: sed 's/"cameo_schedules": 1/"cameo_tuning": 1, "schedule_version": 1/; s/"schedules"/"results"/; s/"key"/"us": 5, "round": 2, "status": "ok", "key"/' %t.json > %t.tuned.json
// RUN: sed '0,/threads = 256/s//threads = 96/' %t.tuned.json > %t.later.json
// RUN: sed '0,/threads = 256/s//threads = 32/; s/"us": 5/"us": 3/; s/"round": 2/"round": 1/' %t.tuned.json > %t.first.json
// RUN: sed '0,/threads = 256/s//threads = 512/; s/"us": 5/"us": 1/; s/"ok"/"wrong"/' %t.tuned.json > %t.untrue.json
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o - --target=sim:sm_80 --schedules=%t.first.json,%t.untrue.json,%t.later.json | FileCheck %s --check-prefix=LATER
// LATER: threads = 96
// RUN: sed '0,/threads = 96/s//threads = 160/; s/"us": 5/"us": 4/' %t.later.json > %t.faster.json
// RUN: cameoc %s --start-from=dispatched --emit=schedules -o - --target=sim:sm_80 --schedules=%t.faster.json,%t.later.json | FileCheck %s --check-prefix=FASTER
// FASTER: threads = 160
// RUN: sed 's/"schedule_version": 1/"schedule_version": 0/' %t.tuned.json > %t.stale.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.stale.json 2>&1 | FileCheck %s --check-prefix=STALE
// STALE: error: schedules '{{.*}}.stale.json': it is stale: schedules of version 0 were measured, and this compiler has version 1; measure again
// RUN: sed 's/"status": "ok", //' %t.tuned.json > %t.status.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --target=sim:sm_80 --schedules=%t.status.json 2>&1 | FileCheck %s --check-prefix=STATUS
// STATUS: error: schedules '{{.*}}.status.json': result 0 (key {{[0-9a-f]+}}) needs the numbers 'us' and 'round' and the string 'status'

// No such file, or not of this form.
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: schedules '{{.*}}.absent': No such file or directory
// RUN: echo '{"cameo_schedules": 1, "schedules": [' > %t.broken.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.broken.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: schedules '{{.*}}.broken.json': [2:0, byte=38]: Unexpected EOF
// RUN: echo '[]' > %t.list.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.list.json 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: schedules '{{.*}}.list.json': it has no number 'cameo_schedules' or no list 'schedules'
// RUN: sed 's/"cameo_schedules": 1/"cameo_schedules": 2/' %t.json > %t.new.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.new.json 2>&1 | FileCheck %s --check-prefix=NEW
// NEW: error: schedules '{{.*}}.new.json': its version is 2, not 1
// RUN: sed 's/#kernel.schedule/#kernel.schedle/' %t.json > %t.attribute.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.attribute.json 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: error: schedules '{{.*}}.attribute.json': schedule 0 (key {{[0-9a-f]+}}) cannot be read: unknown attribute `schedle` in dialect `kernel`
// RUN: sed 's/"key": ".*"/"key": "0"/' %t.json > %t.twice.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.twice.json 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: schedules '{{.*}}.twice.json': schedule 1 (key 0) is the second one for sm_80
// RUN: sed 's/"key"/"kay"/' %t.json > %t.member.json
// RUN: not cameoc %s --start-from=dispatched --emit=plan -o %t.plan --schedules=%t.member.json 2>&1 | FileCheck %s --check-prefix=MEMBER
// MEMBER: error: schedules '{{.*}}.member.json': schedule 0 needs the strings 'target', 'key' and 'schedule'
// RUN: not cameoc %s --start-from=scheduled --emit=plan -o %t.plan --schedules=%t.json 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: --schedules: no schedules are chosen on the way from stage scheduled to host

#id = affine_map<(d0, d1) -> (d0, d1)>
rt.variant @sm_80 target "sm_80" {
  func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %a = kernel.dispatch ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%i: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32> loc("first")
    %b = kernel.dispatch ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%i: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = arith.negf %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32> loc("second")
    %c = kernel.dispatch ins(%b : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%i: tensor<64x64xf32>, %o: tensor<64x64xf32>):
      %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) {
      ^bb1(%v: f32, %w: f32):
        %q = math.sqrt %v : f32
        linalg.yield %q : f32
      } -> tensor<64x64xf32>
      kernel.yield %g : tensor<64x64xf32>
    } -> tensor<64x64xf32> loc("rooted")
    return %c : tensor<64x64xf32>
  }
}
