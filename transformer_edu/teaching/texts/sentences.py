"""Short sentences in English and German: a text to count words in and to learn pieces from.

Used in notebooks/13_tokenization.ipynb. They were written for this course: everyday scenes whose
words come again, letters and full stops only, and German compounds beside English phrases.
"""

_PAIRS = """\
The sun is shining and the sky is blue. | Die Sonne scheint und der Himmel ist blau.
A dog is sleeping in front of the warm stove. | Ein Hund schläft vor dem warmen Ofen.
Two children are building a snowman. | Zwei Kinder bauen einen Schneemann.
The snow is melting in the sunshine. | Der Schnee schmilzt im Sonnenschein.
My sister is looking for her gloves. | Meine Schwester sucht ihre Handschuhe.
The tram is waiting at the stop. | Die Straßenbahn wartet an der Haltestelle.
The train to Berlin leaves from here. | Der Zug nach Berlin fährt hier ab.
Anna forgot her umbrella on the train. | Anna hat ihren Regenschirm im Zug vergessen.
It has been raining since the morning. | Es regnet seit dem Morgen.
The rain is falling on the roof of the house. | Der Regen fällt auf das Dach des Hauses.
An old man is sitting on a bench in the park. | Ein alter Mann sitzt auf einer Bank im Park.
A young woman is reading a book. | Eine junge Frau liest ein Buch.
The bookshop opens at nine in the morning. | Die Buchhandlung öffnet morgens um neun.
The baker is selling warm bread. | Der Bäcker verkauft warmes Brot.
The bakery smells of fresh bread. | Die Bäckerei duftet nach frischem Brot.
Grandmother is baking an apple cake. | Die Großmutter backt einen Apfelkuchen.
The apple tree in the garden is very old. | Der Apfelbaum im Garten ist sehr alt.
A bird is singing in the apple tree. | Im Apfelbaum singt ein Vogel.
The bird is building its nest under the roof. | Der Vogel baut sein Nest unter dem Dach.
A black cat is looking out of the window. | Eine schwarze Katze schaut aus dem Fenster.
The cat is sleeping on the kitchen table. | Die Katze schläft auf dem Küchentisch.
The kitchen window is open. | Das Küchenfenster ist offen.
Tom is washing the dishes in the kitchen. | Tom spült in der Küche das Geschirr.
Father is cooking a soup with carrots. | Der Vater kocht eine Suppe mit Karotten.
The soup is still too hot. | Die Suppe ist noch zu heiß.
The teacher is writing a word on the board. | Die Lehrerin schreibt ein Wort an die Tafel.
The pupils are learning the words by heart. | Die Schüler lernen die Wörter auswendig.
The dictionary is lying on the desk. | Das Wörterbuch liegt auf dem Schreibtisch.
School starts after the summer holidays. | Nach den Sommerferien beginnt die Schule.
The summer was warm and dry. | Der Sommer war warm und trocken.
The winter was cold and long. | Der Winter war kalt und lang.
In winter we wear thick coats. | Im Winter tragen wir dicke Mäntel.
A cold wind is blowing from the north. | Ein kalter Wind weht aus dem Norden.
The windmill stands on a hill. | Die Windmühle steht auf einem Hügel.
The boy is riding his bicycle to school. | Der Junge fährt mit dem Fahrrad zur Schule.
The cycle path runs along the river. | Der Fahrradweg führt am Fluss entlang.
A ship is sailing down the river. | Ein Schiff fährt den Fluss hinunter.
The ship is entering the harbour. | Das Schiff läuft in den Hafen ein.
The fisherman is repairing his boat. | Der Fischer repariert sein Boot.
Fresh fish is sold at the fish market. | Auf dem Fischmarkt wird frischer Fisch verkauft.
On Saturday we go to the market. | Am Samstag gehen wir auf den Markt.
At the market she buys flowers. | Auf dem Markt kauft sie Blumen.
The flowers are standing in a vase. | Die Blumen stehen in einer Vase.
The gardener is watering the roses. | Der Gärtner gießt die Rosen.
The garden gate is made of wood. | Das Gartentor ist aus Holz.
The wooden bridge leads across the stream. | Die Holzbrücke führt über den Bach.
Three girls are standing on the bridge. | Drei Mädchen stehen auf der Brücke.
The girls are throwing stones into the water. | Die Mädchen werfen Steine ins Wasser.
The water in the lake is clear and cold. | Das Wasser im See ist klar und kalt.
The waterfall can be heard from far away. | Den Wasserfall hört man von weitem.
A mountain path leads to the waterfall. | Ein Bergweg führt zum Wasserfall.
The hikers are resting on the mountain. | Die Wanderer rasten auf dem Berg.
They are drinking water from a bottle. | Sie trinken Wasser aus einer Flasche.
A man with a red hat is playing the guitar. | Ein Mann mit einem roten Hut spielt Gitarre.
The children are playing football. | Die Kinder spielen Fußball.
The football is lying under a parked car. | Der Fußball liegt unter einem geparkten Auto.
The car stops at the red traffic light. | Das Auto hält an der roten Ampel.
A woman is crossing the street with her dog. | Eine Frau geht mit ihrem Hund über die Straße.
The street lamps go on in the evening. | Am Abend gehen die Straßenlaternen an.
In the evening we sit around the fire. | Am Abend sitzen wir um das Feuer.
The firemen are putting out the fire. | Die Feuerwehrleute löschen das Feuer.
The fire engine is driving through the city. | Das Feuerwehrauto fährt durch die Stadt.
The city lies on a large river. | Die Stadt liegt an einem großen Fluss.
The town hall has a high tower. | Das Rathaus hat einen hohen Turm.
From the tower you can see the whole city. | Vom Turm aus sieht man die ganze Stadt.
The clock on the tower strikes twelve. | Die Uhr am Turm schlägt zwölf.
My watch has stopped. | Meine Armbanduhr ist stehen geblieben.
The doctor is working at the hospital. | Der Arzt arbeitet im Krankenhaus.
The nurse is bringing a glass of water. | Die Krankenschwester bringt ein Glas Wasser.
The patient is sleeping quietly. | Der Kranke schläft ruhig.
Grandfather is telling a story. | Der Großvater erzählt eine Geschichte.
The story is about a king and his horse. | Die Geschichte handelt von König und Pferd.
The horse is jumping over the fence. | Das Pferd springt über den Zaun.
The farmer is leading the horse into the stable. | Der Bauer führt das Pferd in den Stall.
The farmhouse stands at the edge of the forest. | Das Bauernhaus steht am Rand des Waldes.
We are looking for mushrooms in the forest. | Wir suchen im Wald Pilze.
It is dark in the forest. | Im Wald ist es dunkel.
The moon is shining brightly tonight. | Der Mond scheint heute Nacht hell.
In the moonlight we can see the way. | Im Mondschein sehen wir den Weg.
The stars are twinkling in the night sky. | Die Sterne funkeln am Nachthimmel.
I did not sleep well last night. | Ich habe letzte Nacht nicht gut geschlafen.
The bedroom is on the first floor. | Das Schlafzimmer liegt im ersten Stock.
The living room is bright and warm. | Das Wohnzimmer ist hell und warm.
The children are tidying up their room. | Die Kinder räumen ihr Kinderzimmer auf.
There are many toys on the floor. | Auf dem Boden liegt viel Spielzeug.
The key is hanging next to the front door. | Der Hausschlüssel hängt neben der Haustür.
Somebody is knocking at the front door. | Jemand klopft an die Haustür.
The postman is bringing a letter from Vienna. | Der Briefträger bringt einen Brief aus Wien.
The stamp on the letter is beautiful. | Die Briefmarke auf dem Brief ist schön.
She is writing a long letter to her friend. | Sie schreibt ihrer Freundin einen langen Brief.
My friend lives in a small village. | Mein Freund wohnt in einem kleinen Dorf.
The village church is very small. | Die Dorfkirche ist sehr klein.
The church bells are ringing on Sunday. | Am Sonntag läuten die Kirchenglocken.
On Sunday we visit our grandparents. | Am Sonntag besuchen wir unsere Großeltern.
The bus stop is right in front of the house. | Die Bushaltestelle ist direkt vor dem Haus.
The bus was late again today. | Der Bus kam heute wieder zu spät.
The bus driver is greeting the passengers. | Der Busfahrer grüßt die Fahrgäste.
The passengers are getting off at the station. | Die Fahrgäste steigen am Bahnhof aus.
The ticket costs less in summer. | Die Fahrkarte kostet im Sommer weniger.
We are travelling to the sea by train. | Wir fahren mit dem Zug ans Meer.
The seagulls are flying over the beach. | Die Möwen fliegen über den Strand.
The children are digging a hole in the sand. | Die Kinder graben ein Loch in den Sand.
The sandcastle is as high as a chair. | Die Sandburg ist so hoch wie ein Stuhl.
A wave is washing the sandcastle away. | Eine Welle spült die Sandburg weg.
The lighthouse shows the ships the way. | Der Leuchtturm zeigt den Schiffen den Weg.
The painter is painting the sea. | Der Maler malt das Meer.
The picture is hanging in the museum. | Das Bild hängt im Museum.
The museum is closed on Monday. | Das Museum ist am Montag geschlossen.
The students are working in the library. | Die Studenten arbeiten in der Bibliothek.
It is very quiet in the library. | In der Bibliothek ist es sehr ruhig.
The boy is learning to play the violin. | Der Junge lernt Geige spielen.
The piano teacher is very patient. | Die Klavierlehrerin ist sehr geduldig.
The musicians are playing in front of the town hall. | Die Musiker spielen vor dem Rathaus.
Many people are listening to the music. | Viele Leute hören der Musik zu.
The baby is laughing at the dog. | Das Baby lacht über den Hund.
The dog is carrying a stick in its mouth. | Der Hund trägt einen Stock im Maul.
The dog is running after the ball. | Der Hund läuft dem Ball hinterher.
The ball is rolling down the street. | Der Ball rollt die Straße hinunter.
The coffee is strong and hot. | Der Kaffee ist stark und heiß.
She is drinking her coffee in the garden. | Sie trinkt ihren Kaffee im Garten.
The stop is opposite the school. | Die Haltestelle liegt gegenüber der Schule.
Many people are waiting for the tram. | Viele Leute warten auf die Straßenbahn.
The tram is full of children. | Die Straßenbahn ist voller Kinder.
The tram runs through the old town. | Die Straßenbahn fährt durch die Altstadt.
The old town has narrow streets. | Die Altstadt hat enge Straßen.
The streets are wet after the rain. | Die Straßen sind nach dem Regen nass.
The railway runs along the lake. | Die Eisenbahn fährt am See entlang.
The railway bridge is very high. | Die Eisenbahnbrücke ist sehr hoch.
There are many cars on the motorway. | Auf der Autobahn fahren viele Autos.
The cars are waiting in front of the bridge. | Die Autos warten vor der Brücke.
The station clock is always right. | Die Bahnhofsuhr geht immer richtig.
A man is running to the station. | Ein Mann läuft zum Bahnhof.
The children are waiting at the bus stop. | Die Kinder warten an der Bushaltestelle.
The school bus is coming around the corner. | Der Schulbus kommt um die Ecke.
The pupils are getting on the school bus. | Die Schüler steigen in den Schulbus.
The school garden is full of flowers. | Der Schulgarten ist voller Blumen.
The flower shop is next to the church. | Der Blumenladen ist neben der Kirche.
The garden house has a green door. | Das Gartenhaus hat eine grüne Tür.
The door of the house is open. | Die Tür des Hauses ist offen.
The roof of the garden house is red. | Das Dach des Gartenhauses ist rot.
A boat is lying on the beach. | Ein Boot liegt am Strand.
A girl is drinking a glass of apple juice. | Ein Mädchen trinkt ein Glas Apfelsaft.
The apples are lying in a basket. | Die Äpfel liegen in einem Korb.
The woman is carrying the basket into the house. | Die Frau trägt den Korb ins Haus.
A man is carrying a child on his shoulders. | Ein Mann trägt ein Kind auf den Schultern.
The child is eating an apple. | Das Kind isst einen Apfel.
The children are eating cake in the garden. | Die Kinder essen im Garten Kuchen.
The rain is good for the garden. | Der Regen ist gut für den Garten.
The raincoat is hanging next to the door. | Der Regenmantel hängt neben der Tür.
The summer rain was warm. | Der Sommerregen war warm.
A rainbow is standing over the city. | Über der Stadt steht ein Regenbogen.
The city park is quiet in the morning. | Der Stadtpark ist am Morgen ruhig.
Two women are sitting in the city park. | Zwei Frauen sitzen im Stadtpark.
The women are talking about the weather. | Die Frauen sprechen über das Wetter.
The water is running into the sea. | Das Wasser läuft ins Meer.
Sea water is salty. | Das Meerwasser ist salzig.
The wind is blowing over the beach. | Der Wind weht über den Strand.
The snow is lying on the street. | Der Schnee liegt auf der Straße.
The winter coat is too small for him. | Der Wintermantel ist ihm zu klein.
The bookshelf in the living room is full. | Das Bücherregal im Wohnzimmer ist voll.
"""
SAMPLE_PAIRS = tuple(tuple(line.split(" | ")) for line in _PAIRS.splitlines())  # English, German
