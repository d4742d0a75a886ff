import { createTest } from 'petstore-sandbox/vitest'
import { expect } from 'vitest'
import {
  cancelBookingBookingsBookingIdCancelPost as cancelBooking,
  createBookingBookingsPost as createBooking,
  importBookingsBookingsImportPost as importBookings,
  listBookingsBookingsGet as listBookings,
  listRoomsRoomsGet as listRooms,
  readBookingBookingsBookingIdGet as readBooking,
} from '../client/booking/sdk.gen'
import type { BookingRead } from '../client/booking/types.gen'
import { logIn } from '../src/session'

const test = createTest({
  spec: 'booking.json',
  generate: ['members=3', 'rooms=4', 'bookings=6', 'payments=8'],
  seed: 1,
})
const slot = { room_id: 1, starts_at: '2026-05-01T10:00:00Z', ends_at: '2026-05-01T11:00:00Z' }

test('reads generated records with the generated client', async ({ sandbox }) => {
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  const { data: rooms = [] } = await listRooms({ throwOnError: true })
  const { data: bookings = [] } = await listBookings({ throwOnError: true })
  expect([rooms.length, bookings.length]).toEqual([4, 6])
  for (const { room_id, deleted_at, starts_at, ends_at } of bookings) {
    expect(rooms.map(({ id }) => id)).toContain(room_id)
    expect(deleted_at ?? null).toBeNull()
    expect(starts_at <= ends_at).toBe(true)
  }
})

test('starts with an empty list', async ({ sandbox }) => {
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  for (const { id } of await sandbox.records.list<BookingRead>('bookings')) await sandbox.records.remove('bookings', id)
  expect((await listBookings({ throwOnError: true })).data).toEqual([])
})

test('shows a wrong password', async ({ sandbox }) => {
  await sandbox.faults.add({ operation: 'login_token_post', status: 401, body: { detail: 'Wrong password' } })
  await expect(logIn(sandbox.baseUrl, 'ada@example.com', 'wrong')).rejects.toThrow('Wrong password')
})

test('logs in again once its token has expired', async ({ sandbox }) => {
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  await sandbox.logins.expire()
  expect((await listBookings()).response?.status).toBe(401)
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  expect((await listBookings()).response?.status).toBe(200)
})

test('refuses a second booking of the same room', async ({ sandbox }) => {
  await sandbox.handle<{ body: typeof slot }>('create_booking_bookings__post', ({ body, records }) => {
    const taken = records
      .list('bookings')
      .some((one) => one.room_id === body.room_id && one.starts_at === body.starts_at)
    return taken ? { status: 409, body: { detail: 'The room is taken' } } : undefined
  })
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  expect((await createBooking({ body: slot })).response?.status).toBe(201)
  const second = await createBooking({ body: slot })
  expect([second.response?.status, second.error]).toEqual([409, { detail: 'The room is taken' }])
})

test('cancels a booking', async ({ sandbox }) => {
  await sandbox.handle<{ path: { booking_id: number } }>(
    'cancel_booking_bookings__booking_id__cancel_post',
    ({ path, records, now }) => ({
      body: records.set('bookings', path.booking_id, { status: 'cancelled', cancelled_at: now }),
    }),
  )
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  const path = { booking_id: 1 }
  expect((await cancelBooking({ path, throwOnError: true })).data).toMatchObject({ id: 1, status: 'cancelled' })
  expect((await readBooking({ path, throwOnError: true })).data).toMatchObject({ status: 'cancelled' })
  expect((await cancelBooking({ path: { booking_id: 99 } })).response?.status).toBe(404)
})

test('books once, however often the request is repeated', async ({ sandbox }) => {
  await sandbox.faults.add('create_booking_bookings__post:503,after*1')
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  const send = (body = slot) => createBooking({ body, headers: { 'Idempotency-Key': 'first' } })
  expect((await send()).response?.status).toBe(503)
  await sandbox.clock.advance('2s')
  expect([(await send()).data?.id, (await send()).data?.id]).toEqual([7, 7])
  expect((await send({ ...slot, room_id: 2 })).response?.status).toBe(422)
  expect((await listBookings({ throwOnError: true })).data).toHaveLength(7)
})

test('uploads a JSON file', async ({ sandbox }) => {
  await logIn(sandbox.baseUrl, 'ada@example.com', 'secret-password')
  const file = new File([JSON.stringify([slot, slot])], 'bookings.json', { type: 'application/json' })
  const { response, data } = await importBookings({ body: { file } })
  expect([response?.status, typeof data?.imported]).toEqual([200, 'number'])
})
