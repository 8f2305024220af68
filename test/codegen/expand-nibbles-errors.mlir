// RUN: cameo-opt --cameo-expand-nibbles --split-input-file --verify-diagnostics %s

#g = #gpu.address_space<global>

gpu.module @store {
  gpu.func @store(%w: memref<?xi4, #g>, %i: index, %v: i4) kernel {
    // expected-error@+1 {{cannot access memory of i4; loads do}}
    memref.store %v, %w[%i] : memref<?xi4, #g>
    gpu.return
  }
}

// -----

#g = #gpu.address_space<global>

gpu.module @alignment {
  gpu.func @alignment(%w: memref<?xi4, #g>, %y: memref<?xi32, #g>, %i: index) kernel {
    // expected-error@+1 {{of i4 loads whole bytes, and says how they are aligned}}
    %v = vector.load %w[%i] : memref<?xi4, #g>, vector<8xi4>
    %a = vector.extract %v[0] : i4 from vector<8xi4>
    %n = arith.extsi %a : i4 to i32
    memref.store %n, %y[%i] : memref<?xi32, #g>
    gpu.return
  }
}
