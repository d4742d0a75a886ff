export const { setTimeout, clearTimeout } = globalThis
