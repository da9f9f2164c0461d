! SPDX-License-Identifier: BSD-3-Clause
! Fortran: what ranks print comes in the order that synchronisation gives.
program main
  use omp_lib
  implicit none
  integer :: i, next, unit
  character(20) :: text

  ! rank 0's line is in libgfortran's buffer when the region begins
  print '(a)', 'before a region'
  !$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) print '(a)', 'in it'
  !$omp end parallel
  print '(a)', 'after it'

  ! within a statement the unit is locked
  print '(a,i4)', 'of a function', region(7)

  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 12
     !$omp ordered
     print '(a,i4)', 'ordered', i
     !$omp end ordered
  end do

  ! by turns of a lock
  next = 0
  !$omp parallel private(i, text)
  do i = 1, 5
     !$omp critical
     next = next + 1
     write (text, '(i4)') region(next)
     print '(a)', 'turn'//trim(text)
     !$omp end critical
  end do
  !$omp end parallel

  ! a barrier in a function of a statement
  !$omp parallel private(text)
  write (text, '(i4)') met()
  !$omp end parallel
  print '(a,i4)', 'met', next

  ! files that stay open are written in a barrier at the latest
  !$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
     open (newunit=unit, file='output.lines')
     write (unit, '(a)') 'four'
     open (11, file='output.more')
     write (11, '(a)') 'lines'
  end if
  !$omp end parallel
  inquire (file='output.lines', size=i)
  inquire (file='output.more', size=next)
  print '(a,2i4)', 'bytes', i, next
  !$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
     close (unit, status='delete')
     close (11, status='delete')
  end if
  !$omp end parallel
contains
  integer function region(n)
    integer, intent(in) :: n
    integer :: sum
    sum = 0
    !$omp parallel reduction(+: sum)
    sum = sum + 1
    !$omp end parallel
    region = n
    if (sum < 1) region = -1
  end function

  integer function met()
    !$omp barrier
    !$omp single
    next = 0
    !$omp end single
    met = 0
  end function
end program
