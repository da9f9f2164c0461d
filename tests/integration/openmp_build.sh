#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# railomp-cc, -c++ and -fortran: what they compile has no locked instruction, and
# what does not work on several hosts is refused with one sentence.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

cc=$BUILD/bin/railomp-cc
cxx=$BUILD/bin/railomp-c++
fortran=$BUILD/bin/railomp-fortran
programs=$SOURCE/tests/omp
[ -x "$cc" ] || skip 'no gcc-12-plugin-dev was there when this was built'

# locked OBJECT…: it has an instruction that is atomic in one process only
locked()
{
    objdump -d --no-show-raw-insn "$@" |
        grep -E '\s(lock |xchg.*\(|cmpxchg|mfence)'
}

# clean COMPILER SOURCE OPTIONS…: its object has none, and calls the runtime
clean()
{
    "$1" -c "$programs/$2" -o "$work/object.o" "${@:3}" &&
        ! locked "$work/object.o" &&
        nm "$work/object.o" | grep -q ' U railomp_atomic_'
}

gcc -O2 -fopenmp -c "$programs/atomics.c" -o "$work/plain.o"
check 'gcc makes locked instructions' locked "$work/plain.o" >/dev/null
for level in -O0 -O1 -O2 -O3; do
    check "atomics.c $level" clean "$cc" atomics.c $level
    check "cxx.cpp $level" clean "$cxx" cxx.cpp $level
    check "fortran.f90 $level" clean "$fortran" fortran.f90 $level -J "$work"
done

# --- how it is called ------------------------------------------------------------

cat >"$work/hello.c" <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    int n = 0;
#pragma omp parallel reduction(+ : n)
    n++;
    printf("%d\n", n);
    return n != omp_get_max_threads();
}
END
cd "$work" || exit 1
check 'compiles and links at once' "$cc" -O2 hello.c -o once
check '... runs' env OMP_NUM_THREADS=3 ./once
check 'without -o' "$cc" hello.c
check '... it is a.out' env OMP_NUM_THREADS=2 ./a.out
check 'compiles only' "$cc" -c hello.c
check '... links only' "$cc" hello.o -o twice
check '... runs, too' env OMP_NUM_THREADS=2 ./twice
check 'preprocesses' sh -c '"$0" -E hello.c | grep -q "main(void)"' "$cc"
check 'libgomp is not linked' sh -c '! readelf -d once | grep libgomp'
check '... nor if the program asks for it' sh -c '"$0" hello.c -l gomp -lgomp -o gomp &&
    ! readelf -d gomp | grep libgomp' "$cc"
check 'no copies of the data of libraries' sh -c '! readelf -rW once | grep COPY'
mkdir -p 'a b/bin' && cp "$cc" 'a b/bin' && ln -s "$BUILD/lib" 'a b/lib'
check 'in a folder with a blank' 'a b/bin/railomp-cc' hello.c -o moved
check '... runs' env OMP_NUM_THREADS=2 ./moved
for name in "$cc" "$cxx" "$fortran"; do
    check "${name##*/} --help" sh -c '"$0" --help | grep -q RAILOMP_RANKS=2' "$name"
    check "${name##*/} --version" sh -c '"$0" --version | head -n 1 |
        grep -q "^railomp-.*dapl_rail [0-9.]*. with "' "$name"
done
check 'an error of the compiler is as ever' sh -c '! "$0" -c none.c 2>err &&
    grep -q "none.c: No such file" err' "$cc"

for option in -pie -fPIE -fpie; do
    check "$option has no effect" "$cc" -O2 $option hello.c -o fixed
    check '... the data have a fixed address' sh -c 'readelf -h fixed | grep -q EXEC'
done
# lto COMPILER GCC SOURCE: passes when it is optimized at link time, in two steps, too
lto()
{
    "$1" -O2 -flto -c "$programs/$3" -o part.o && "$1" -O2 -flto=2 part.o -o lto &&
        RAILOMP_PAGES=copied RAILOMP_RANKS=2 OMP_NUM_THREADS=2 timeout -k 5 60 ./lto >out &&
        "$2" -O2 -fopenmp "$programs/$3" -o plain -latomic &&
        OMP_NUM_THREADS=4 ./plain | cmp out
}
check '-flto' lto "$cc" gcc atomics.c
check '-flto in C++' lto "$cxx" g++ cxx.cpp
check '-flto in Fortran' lto "$fortran" gfortran fortran.f90

# the program's own functions, whose names the wrappers of libc's have, too
cat >own.c <<'END'
#include <stddef.h>
int getline(char *line, int most)
{
    for (int i = 0; i < most; i++)
        line[i] = 'a';
    return most;
}
int setbuf(int x)
{
    return x + 1;
}
long write(int fd, const void *from, size_t bytes)
{
    return from ? fd + (long)bytes : 0;
}
END
cat >uses.c <<'END'
int getline(char *line, int most);
int setbuf(int x);
long write(int fd, const void *from, unsigned long bytes);
int main(void)
{
    char line[9];
    int sum = 0;
#pragma omp parallel private(line) reduction(+ : sum)
    sum += getline(line, 8) + setbuf(1) + (int)write(20, line, 8);
    return sum;
}
END
check 'functions with names of libc' "$cc" -w -O1 -fno-builtin own.c uses.c -o own
for pages in shared copied; do
    RAILOMP_PAGES=$pages RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./own
    check "... are called, pages are $pages" exited_with 76 $?
done
echo 'int link[2] = {40, 2};' >has.c
cat >uses_it.c <<'END'
extern int link[2];
int main(void)
{
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += link[0] + link[1];
    return sum;
}
END
check 'a variable with a name of libc' "$cc" has.c uses_it.c -o variable
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./variable
check '... is used' exited_with 84 $?
check '... but not by libraries' sh -c '! nm -D -g own | grep -Ew "write|getline|setbuf"'
for input in - /dev/stdin; do
    cat own.c uses.c | "$cc" -w -O1 -fno-builtin -x c $input -o piped
    check "a program from standard input is compiled, as $input" [ -x piped ]
    RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./piped
    check '... and runs' exited_with 76 $?
    rm -f piped
done
cat >news.cpp <<'END'
#include <cstdlib>
#include <new>
#include <vector>
static int news;
void *operator new(std::size_t bytes)
{
    if (void *p = std::malloc(bytes)) {
#pragma omp atomic
        news++;
        return p;
    }
    throw std::bad_alloc();
}
void operator delete(void *p) noexcept
{
    std::free(p);
}
void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}
int main()
{
    std::vector<int> all(50);
#pragma omp parallel for
    for (int i = 0; i < 50; i++)
        all[i] = std::vector<int>(3, i)[2] == i;
    for (int i = 0; i < 50; i++)
        news += all[i];
    return news;
}
END
check "the program's own operator new" "$cxx" -O0 news.cpp -o news
RAILOMP_PAGES=copied RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./news
check '... is called' exited_with 101 $?

# its main is wrapped, as railomp-cc does it, but its data have no fixed address
sanitizers=$(sed -n "s/^sanitizers='\(.*\)'/\1/p" "$cc")
# shellcheck disable=SC2086
gcc ${sanitizers:+-Wl,--no-as-needed $sanitizers} -fopenmp -fPIE -pie "-I$SOURCE" hello.c "$SOURCE/omp/wrapper/program.c" \
    -Wl,--wrap=main "-L$BUILD/lib" "-Wl,-rpath,$BUILD/lib" -lrailomp -o pie
refused 'a program at any address' 'position-independent' \
    env RAILOMP_RANKS=2 ./pie

# --- what is refused -------------------------------------------------------------

for option in -shared -static -static-pie -m32 -static-libgfortran \
    -Wl,-pie -Wl,-O1,-shared -fsanitize=thread -fsanitize=undefined,address; do
    refused "$option" "railomp-cc:.'$option'.is.not.allowed" \
        "$cc" $option hello.c -o refused
done

for option in -Wl,-static -r; do
    refused "$option" 'runtime.is.a.shared.library' "$cc" $option hello.c -o refused
done
refused '-Xlinker -pie' "railomp-cc:.'-Wl,-pie'.is.not.allowed" \
    "$cc" -Xlinker -pie hello.c -o refused

cat >asm.c <<'END'
int counter;
void add_by_hand(void)
{
    __asm__ volatile("lock incl %0" : "+m"(counter));
}
int main(void)
{
    add_by_hand();
    return 0;
}
END
"$cc" -c asm.c
refused 'a lock prefix' 'asm.o:.lock function.add_by_hand' "$cc" asm.o -o refused
sed 's/lock incl %0/xchg %%eax, %0/' asm.c >xchg.c
refused 'xchg with memory' 'xchg function.add_by_hand' "$cc" xchg.c -o refused
check 'there is no program then' test ! -e refused

cat >atomic.c <<'END'
int word;
int add(void)
{
    return __sync_fetch_and_add(&word, 1);
}
END
cat >main.c <<'END'
int add(void);
int main(void)
{
    return add();
}
END
gcc -c atomic.c -o other.o
ar qcs libother.a other.o
refused 'an object of another compiler' 'other.o function.add' \
    "$cc" main.c other.o -o refused
refused '... in a library' 'other.o function.add' \
    "$cc" main.c libother.a -o refused
refused '... that -l names' 'libother.a:.other.o:.lock function.add' \
    "$cc" main.c -L. -lother -o refused
gcc -fopenmp -shared -fPIC hello.c -Dmain=counted -o libregions.so
refused 'a library with regions' 'libregions.so calls.GOMP_parallel' \
    "$cc" main.c atomic.c -L. -lregions -o refused
check 'the same, compiled by railomp-cc' sh -c '"$0" main.c atomic.c -o good &&
    ./good' "$cc"

printf 'void __kmpc_fork_call(void);\nint main(void)\n{\n__kmpc_fork_call();\nreturn 0;\n}\n' >bad.c
refused 'an object of clang' '__kmpc_fork_call:.code.of.another.compiler' \
    "$cc" bad.c -o refused
printf 'void GOMP_new_construct(void);\nint main(void)\n{\nGOMP_new_construct();\nreturn 0;\n}\n' >bad.c
refused 'an unknown symbol of libgomp' 'GOMP_new_construct:.this.call.is.not' \
    "$cc" bad.c -o refused
refused 'a compiler that is not there' "no.compiler.'none'" \
    env RAILOMP_CC=none "$cc" hello.c -o refused
