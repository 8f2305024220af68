// Results of wgmma are used once a wait has been for them, in PTX and in checked images.
//
// RUN: cameo-translate --kernel-to-ptx --arch=sm_90a %s -o /dev/null
// RUN: cameo-translate --kernel-to-sim-ir --arch=sm_90a --checked %s -o /dev/null

// Accumulators go from one to the next; what the wait leaves in flight is the second group.
gpu.module @waits {
  llvm.func @waits(%y: !llvm.ptr<1>, %desc: i64, %f: f32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %true = llvm.mlir.constant(true) : i1
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    %b:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %a#0, %a#1, %a#2, %a#3) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    %c:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 1"() : () -> ()
    llvm.store %b#0, %y : f32, !llvm.ptr<1>
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.store %c#0, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}

// In a loop that waits for what the round before has issued, which is passed on meanwhile.
gpu.module @rounds {
  llvm.func @rounds(%y: !llvm.ptr<1>, %desc: i64, %f: f32, %n: i32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %true = llvm.mlir.constant(true) : i1
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^loop(%c0, %f : i32, f32)
  ^loop(%i: i32, %last: f32):
    kernel.ptx "wgmma.fence.sync.aligned"() : () -> ()
    %a:4 = kernel.ptx "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 1, 1, 0, 0"(%desc, %desc, %true, %f, %f, %f, %f) : (i64, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    kernel.ptx "wgmma.commit_group.sync.aligned"() : () -> ()
    kernel.ptx "wgmma.wait_group.sync.aligned 1"() : () -> ()
    llvm.store %last, %y : f32, !llvm.ptr<1>
    %j = llvm.add %i, %c1 : i32
    %more = llvm.icmp "slt" %j, %n : i32
    llvm.cond_br %more, ^loop(%j, %a#0 : i32, f32), ^done
  ^done:
    kernel.ptx "wgmma.wait_group.sync.aligned 0"() : () -> ()
    llvm.store %a#0, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}

// In MLIR's own spelling: parts of a struct.
gpu.module @own {
  llvm.func @own(%y: !llvm.ptr<1>, %desc: i64, %f: f32)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %none = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
    %s0 = llvm.insertvalue %f, %none[0] : !llvm.struct<(f32, f32, f32, f32)>
    %s1 = llvm.insertvalue %f, %s0[1] : !llvm.struct<(f32, f32, f32, f32)>
    %s2 = llvm.insertvalue %f, %s1[2] : !llvm.struct<(f32, f32, f32, f32)>
    %s3 = llvm.insertvalue %f, %s2[3] : !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.fence.aligned
    %d = nvvm.wgmma.mma_async %desc, %desc, %s3, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>], B [<f16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    %part = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.store %part, %y : f32, !llvm.ptr<1>
    llvm.return
  }
}
