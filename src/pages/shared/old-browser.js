/*
 * Says so where a page cannot start: in a browser without modules, or without what they are written in. Therefore this
 * file is a plain script that browsers of 2009 read. Pages need Safari 14, Chrome or Edge 85, Firefox 79.
 */
// biome-ignore-all lint: written for browsers that know nothing newer
(function () {
  var words = {
    en: [
      'This page could not start',
      'Load it again. If that does not help, open the link in a newer browser, or on another phone or computer.',
      {
        claim: 'Your code stays valid.',
        door: 'What was scanned stays on this phone.',
        ticket: 'Your ticket stays valid.',
      },
    ],
    de: [
      'Diese Seite konnte nicht starten',
      'Laden Sie die Seite neu. Wenn das nicht hilft, öffnen Sie den Link in einem neueren Browser oder auf einem anderen Gerät.',
      {
        claim: 'Ihr Code bleibt gültig.',
        door: 'Was gescannt wurde, bleibt auf diesem Telefon.',
        ticket: 'Ihre Eintrittskarte bleibt gültig.',
      },
    ],
    fr: [
      'Cette page n’a pas pu démarrer',
      'Rechargez-la. Si cela ne suffit pas, ouvrez le lien dans un navigateur plus récent ou sur un autre appareil.',
      {
        claim: 'Votre code reste valable.',
        door: 'Ce qui a été scanné reste sur ce téléphone.',
        ticket: 'Votre billet reste valable.',
      },
    ],
    es: [
      'Esta página no se ha podido iniciar',
      'Vuelva a cargarla. Si no funciona, abra el enlace en un navegador más reciente o en otro dispositivo.',
      {
        claim: 'Su código sigue siendo válido.',
        door: 'Lo escaneado se queda en este teléfono.',
        ticket: 'Su entrada sigue siendo válida.',
      },
    ],
    pt: [
      'Não foi possível iniciar esta página',
      'Recarregue a página. Se não resolver, abra o link em um navegador mais recente ou em outro dispositivo.',
      {
        claim: 'Seu código continua válido.',
        door: 'O que foi lido fica neste celular.',
        ticket: 'Seu ingresso continua válido.',
      },
    ],
  };
  window.sayNotStarted = function () {
    var wanted = navigator.languages || [navigator.language || 'en'];
    var language = 'en';
    for (var i = wanted.length - 1; i >= 0; i -= 1) {
      var each = String(wanted[i]).toLowerCase().split('-')[0];
      if (words.hasOwnProperty(each)) language = each;
    }
    var root = document.documentElement;
    root.lang = language;
    document.getElementById('headline').textContent = words[language][0];
    document.getElementById('message').textContent =
      words[language][1] + ' ' + words[language][2][root.getAttribute('data-page')];
  };
  window.addEventListener('load', function () {
    if (document.documentElement.getAttribute('data-started') === null) window.sayNotStarted();
  });
})();
