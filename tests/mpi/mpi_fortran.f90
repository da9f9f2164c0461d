! SPDX-License-Identifier: BSD-3-Clause
! Collectives from Fortran, which checks them. With -DF08 by module mpi_f08.
program mpi_fortran
#ifdef F08
    use mpi_f08
    implicit none
    type(MPI_Comm) :: world, part
    type(MPI_Datatype) :: vector
    type(MPI_Request) :: requests(2), persistent
    type(MPI_Status) :: statuses(2)
#else
    use mpi
    implicit none
    integer :: world, part, vector
    integer :: requests(2), persistent
    integer :: statuses(MPI_STATUS_SIZE, 2)
#endif
    integer, parameter :: most = 64
    integer :: rank, ranks, failures, all, i, r
    integer :: sent(4), got(4, most), gaps(2, 4), counts(most), displs(most)
    integer :: others(4, most), indices(2), done, way
    integer :: error
    logical :: flag
    double precision :: mean
    failures = 0
    call MPI_Init(error)
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, rank, error)
    call MPI_Comm_size(world, ranks, error)
    call MPI_Comm_dup(world, part, error)
    call MPI_Type_vector(4, 1, 2, MPI_INTEGER, vector, error)
    call MPI_Type_commit(vector, error)
    call MPI_Allgather_init(sent, 4, MPI_INTEGER, others, 4, MPI_INTEGER, part, &
                            MPI_INFO_NULL, persistent, error)
    do i = 1, 10
        sent = rank * [1, 10, 100, 1000]
        got = -1
        call MPI_Allgather(sent, 4, MPI_INTEGER, got, 4, MPI_INTEGER, part, error)
        do r = 1, ranks
            call check(all4(got(:, r), r - 1), 'allgather')
        end do
        got = -1
        got(:, rank + 1) = sent
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, got, 4, MPI_INTEGER, &
                           world, error)
        do r = 1, ranks
            call check(all4(got(:, r), r - 1), 'allgather in place')
        end do
        gaps = -1
        gaps(1, :) = 7 * sent
        call MPI_Bcast(gaps, 1, vector, ranks - 1, part, error)
        call check(all4(gaps(1, :), 7 * (ranks - 1)), 'bcast')
        mean = rank
        call MPI_Allreduce(MPI_IN_PLACE, mean, 1, MPI_DOUBLE_PRECISION, &
                           MPI_SUM, part, error)
        call check(nint(mean) == ranks * (ranks - 1) / 2, 'allreduce')
        counts = 2
        displs = [(4 * (r - 1), r = 1, most)]
        call MPI_Gatherv(sent, 2, MPI_INTEGER, got, counts, displs, &
                         MPI_INTEGER, 0, part, error)
        do r = 1, ranks
            call check(rank /= 0 .or. all4(got(:, r), r - 1), 'gatherv')
        end do
        call MPI_Barrier(part, error)
        do way = 1, 7
            call begin_two()
            call complete_two(way)
            call check_two()
        end do
    end do
    call MPI_Request_free(persistent, error)
    call MPI_Comm_free(part, error)
    call MPI_Type_free(vector, error)
    call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, world, error)
    if (rank == 0) print '(I0, A)', all, ' failures'
    call MPI_Finalize(error)
contains
    ! one that is started again, and one that is not
    subroutine begin_two()
        others = -1
        got = -1
        requests(1) = persistent
        call MPI_Start(requests(1), error)
        call MPI_Iallgather(sent, 4, MPI_INTEGER, got, 4, MPI_INTEGER, part, &
                            requests(2), error)
    end subroutine
    subroutine complete_two(how)
        integer, intent(in) :: how
        integer :: r
        flag = .false.
        done = 0
        select case (how)
        case (1)
            call MPI_Wait(requests(2), MPI_STATUS_IGNORE, error)
            call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
        case (2)
            call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        case (3)
            call MPI_Waitall(2, requests, statuses, error)
        case (4)
            do r = 1, 2
                do while (.not. flag)
                    call MPI_Test(requests(r), flag, MPI_STATUS_IGNORE, error)
                end do
                flag = .false.
            end do
        case (5)
            do while (.not. flag)
                call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, error)
            end do
        case (6)
            do r = 1, 2
                call MPI_Waitany(2, requests, done, MPI_STATUS_IGNORE, error)
                indices(r) = done
            end do
            call check(indices(1) + indices(2) == 3, 'waitany')
        case (7)
            do while (done /= MPI_UNDEFINED)
                call MPI_Testsome(2, requests, done, indices, &
                                  MPI_STATUSES_IGNORE, error)
            end do
        end select
    end subroutine
    subroutine check_two()
        integer :: r
        do r = 1, ranks
            call check(all4(others(:, r), r - 1), 'persistent allgather')
            call check(all4(got(:, r), r - 1), 'iallgather')
        end do
        call check(requests(2) == MPI_REQUEST_NULL, 'the end of a request')
        call check(requests(1) == persistent, 'a request that stays')
    end subroutine
    logical function all4(values, of)
        integer, intent(in) :: values(4), of
        all4 = all_of(values == of * [1, 10, 100, 1000])
    end function
    logical function all_of(each)
        logical, intent(in) :: each(4)
        all_of = each(1) .and. each(2) .and. each(3) .and. each(4)
    end function
    subroutine check(good, what)
        logical, intent(in) :: good
        character(*), intent(in) :: what
        if (good) return
        failures = failures + 1
        print '(A, I0, 3A)', 'rank ', rank, ': ', what, ': wrong data'
    end subroutine
end program
