export const texts = {
  heading: 'Su entrada',
  title: '{name} · entrada',
  loading: 'Leyendo su entrada…',
  servedBy: 'Esta página la ofrece {operator}.',
  help: 'Ayuda',
  code: 'El código de su entrada',
  unnamed: 'Su evento',
  showCode: 'Muestre este código en la puerta. Quien lo tenga puede entrar: no se lo dé a nadie.',
  expired: 'Esta entrada ha caducado y ya no admite a nadie.',
  guest: 'Invitado',
  start: 'Comienza',
  end: 'Termina',
  place: 'Lugar',
  offline: 'Esta página se abre también sin conexión, con el mismo enlace.',
  incompleteTitle: 'Este enlace no está completo',
  incompleteText:
    'Abra el enlace completo de su entrada, con todo lo que sigue al signo #. Si no funciona, pregunte a quien se lo dio.',
};
