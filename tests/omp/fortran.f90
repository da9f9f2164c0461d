! SPDX-License-Identifier: BSD-3-Clause
! Fortran: atomic, reductions, threadprivate, arrays, locks, workshare.
module shared_data
  implicit none
  real(8) :: table(1000)
  integer :: own = 4
  !$omp threadprivate(own)
end module

program main
  use omp_lib
  use shared_data
  implicit none
  integer :: i, j, ints, least, wrong, swapped, threads, order
  integer(8) :: long
  real(4) :: single
  real(8) :: sum, most
  complex(8) :: turned
  logical :: both, either
  real(8), allocatable :: matrix(:, :)
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer :: under
  common /block/ under

  ints = 0; long = 0; single = 0; sum = 0; most = -1; least = 100
  both = .true.; either = .false.; turned = 0; wrong = 0; swapped = 0
  allocate (matrix(50, 40))

  !$omp parallel do
  do i = 1, 1000
     table(i) = i
     !$omp atomic
     ints = ints + 1
     !$omp atomic update
     long = max(long, int(i, 8))
     !$omp atomic
     single = single + 0.5
     !$omp atomic
     sum = sum + i
     !$omp atomic
     both = both .and. i > 0
     !$omp atomic write
     swapped = 6
  end do
  print '(a,3i8,2f12.1,l2)', 'atomic', ints, long, swapped, single, sum, both

  sum = 0
  !$omp parallel do reduction(+: sum, turned) reduction(max: most) &
  !$omp& reduction(min: least) reduction(.or.: either) schedule(dynamic, 9)
  do i = 1, 1000
     sum = sum + table(1001 - i)
     turned = turned + cmplx(i, -i, 8)
     most = max(most, table(i))
     least = min(least, i)
     either = either .or. i == 500
  end do
  print '(a,4f12.1,i4,l2)', 'reductions', sum, most, turned, least, either

  !$omp parallel do collapse(2)
  do j = 1, 40
     do i = 1, 50
        matrix(i, j) = i * j
     end do
  end do
  !$omp parallel workshare
  matrix = matrix + 1
  !$omp end parallel workshare
  print '(a,2f12.1)', 'matrix', matrix(50, 40), sum_of(matrix)

  own = 30
  threads = 0
  !$omp parallel copyin(own) reduction(+: wrong)
  if (own /= 30) wrong = wrong + 1
  own = own + omp_get_thread_num()
  !$omp single
  threads = omp_get_num_threads()
  !$omp end single
  !$omp end parallel
  !$omp parallel reduction(+: wrong) private(i)
  if (own /= 30 + omp_get_thread_num()) wrong = wrong + 1
  i = -1
  !$omp single
  i = 77
  !$omp end single copyprivate(i)
  if (i /= 77) wrong = wrong + 1
  !$omp end parallel
  print '(a,i4,l2)', 'private', wrong, omp_in_parallel()

  under = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  !$omp parallel private(i)
  do i = 1, 20
     call omp_set_lock(lock)
     under = under + 1
     call omp_unset_lock(lock)
  end do
  !$omp barrier
  do i = 1, 20
     call omp_set_nest_lock(nest)
     call omp_set_nest_lock(nest)
     under = under + 2
     call omp_unset_nest_lock(nest)
     call omp_unset_nest_lock(nest)
  end do
  !$omp end parallel
  call omp_destroy_nest_lock(nest)
  call omp_destroy_lock(lock)

  order = 0
  !$omp parallel do ordered schedule(dynamic)
  do i = 1, 50
     !$omp ordered
     if (order == i - 1) order = i
     !$omp end ordered
  end do
  !$omp parallel sections
  !$omp section
  ints = ints + 1
  !$omp section
  long = long + 1
  !$omp end parallel sections
  call omp_set_schedule(omp_sched_guided, 4)
  !$omp parallel
  !$omp critical (name)
  swapped = swapped + 1
  !$omp end critical (name)
  !$omp end parallel
  print '(a,5i8)', 'locks', order, ints, long, swapped - 6 - threads, &
       under / threads
  flush (6)
  !$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) &
       print '(a)', 'printed by the last thread'
  !$omp end parallel
  call files()
  call affinity()
  call returned()
contains
  ! Arrays that functions of libgfortran allocate.
  subroutine returned()
    real(8), allocatable :: x(:, :), y(:, :), r(:), p(:), t(:, :)
    allocate (x(64, 64))
    x = 1
    y = matmul(x, x)
    r = reshape(x, [4096])
    p = pack(x, x > 0)
    t = transpose(y)
    wrong = 0
    !$omp parallel reduction(+: wrong)
    if (any(y /= 64)) wrong = wrong + 1
    if (any(r /= 1)) wrong = wrong + 1
    if (any(p /= 1)) wrong = wrong + 1
    if (any(t /= 64)) wrong = wrong + 1
    !$omp end parallel
    y = 0
    !$omp parallel workshare
    y = matmul(x, transpose(x))
    !$omp end parallel workshare
    if (any(y /= 64)) wrong = wrong + 1
    print '(a,i8)', 'returned', wrong
  end subroutine

  ! Text that is longer than any buffer of the runtime.
  subroutine affinity()
    character(1300) :: text
    integer :: length
    length = omp_capture_affinity(text, repeat('%0.200n', 6))
    print '(a,i8,l2,3a)', 'affinity', length, verify(text(:1200), '0') == 0, '[', &
         text(1201:), ']'
    call omp_set_affinity_format(repeat('x', 200) // '  ')
    length = omp_get_affinity_format(text)
    print '(a,i8,3a)', 'format', length, '[', text(:210), ']'
  end subroutine

  ! Arrays that are too long for libgfortran's own buffer.
  subroutine files()
    integer, parameter :: n = 200000
    real(8), save :: out(n), in(n)
    integer :: k
    wrong = 0
    !$omp parallel do
    do k = 1, n
       out(k) = k * 0.5d0
       in(k) = -1
    end do
    open (11, status='scratch', form='unformatted', access='stream')
    write (11) out
    rewind (11)
    read (11) in
    close (11)
    !$omp parallel do reduction(+: wrong)
    do k = 1, n
       if (in(n + 1 - k) /= out(n + 1 - k)) wrong = wrong + 1
    end do
    print '(a,i8)', 'files', wrong
  end subroutine

  real(8) function sum_of(a)
    real(8), intent(in) :: a(:, :)
    integer :: k, l
    sum_of = 0
    !$omp parallel do reduction(+: sum_of)
    do l = 1, size(a, 2)
       do k = 1, size(a, 1)
          sum_of = sum_of + a(k, l)
       end do
    end do
  end function
end program
