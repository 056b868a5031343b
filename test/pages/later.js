// For older-browsers.test.ts: functions that browsers of 2021 do not have.
export const last = (list = ['']) => [list.at(-1), Object.hasOwn({}, 'x')];
